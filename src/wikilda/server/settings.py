"""What the server listens on, and what it accepts."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting


@dataclass(frozen=True)
class ServerSettings:
    """Settings of the server. Sizes and times are limits; each has its status code when it is passed."""

    host: str = setting("127.0.0.1", "address to listen on; others than this machine reach 0.0.0.0 or ::")
    port: int = setting(8000, "port to listen on")
    workers: int = setting(1, "processes; they share one memory-mapped model")
    threads: int = setting(0, "documents that one process links at a time; 0: its share of the cores")
    queue: int = setting(64, "requests that may wait for a thread in one process; more are answered 503")
    seconds: float = setting(30.0, "time that one request may wait and be worked on; longer is answered 504")
    patience: float = setting(10.0, "seconds that a client may take to send its request, or to read its answer (408)")
    connections: int = setting(2000, "connections that one process holds; more are answered 503")
    drain: int = setting(30, "seconds that requests have to finish when the server is stopped")
    max_body: int = setting(4_000_000, "bytes of a request (413)")
    max_text: int = setting(200_000, "characters of a text (413)")
    max_mentions: int = setting(5_000, "mentions that a request may give (413)")
    max_batch: int = setting(64, "documents of a batch (413)")
    keys: tuple[str, ...] = setting((), "an API key that clients must send; without any the server is open")
    origins: tuple[str, ...] = setting((), "an origin whose pages may call the API (CORS), * for all; else none")
    log_texts: bool = setting(False, "write query strings, which may hold users' texts, to the log")

    def __post_init__(self) -> None:
        for name in ("workers", "queue", "connections", "drain", "max_body", "max_text", "max_mentions", "max_batch"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.port < 65536:
            raise SettingsError(f"port must be from 0 to 65535, not {self.port}")
        if self.threads < 0:
            raise SettingsError(f"threads must not be negative, not {self.threads}")
        for name in ("seconds", "patience"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingsError(f"{name} must be over 0, not {getattr(self, name)}")
        if any(not key.strip() for key in self.keys):
            raise SettingsError("keys: an API key must not be empty")
