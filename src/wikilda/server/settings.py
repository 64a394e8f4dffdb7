"""What the server listens on, and what it accepts."""

import ipaddress
from dataclasses import dataclass

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class ServerSettings(Settings):
    """Settings of the server. Sizes and times are limits; each has its status code when it is passed."""

    host: str = setting("127.0.0.1", "address to listen on; others than this machine reach 0.0.0.0 or ::")
    port: int = setting(8000, "port to listen on", minimum=0, maximum=65535)
    workers: int = setting(1, "processes; they share one memory-mapped model", minimum=1)
    threads: int = setting(0, "documents that one process links at a time; 0: its share of the cores", minimum=0)
    queue: int = setting(64, "requests that may wait for a thread in one process; more are answered 503", minimum=1)
    seconds: float = setting(30.0, "time that one request may wait and be worked on; longer is answered 504", above=0)
    patience: float = setting(
        10.0, "seconds that a client may take to send its request, or to read its answer (408)", above=0
    )
    connections: int = setting(2000, "connections that one process holds; more are answered 503", minimum=1)
    drain: int = setting(30, "seconds that requests have to finish when the server is stopped", minimum=1)
    max_body: int = setting(4_000_000, "bytes of a request (413)", minimum=1)
    max_text: int = setting(200_000, "characters of a text (413)", minimum=1)
    max_mentions: int = setting(5_000, "mentions that a request may give (413)", minimum=1)
    max_batch: int = setting(64, "documents of a batch (413)", minimum=1)
    max_queries: int = setting(1000, "queries of a batch at /reconcile (413)", minimum=1)
    max_work: int = setting(
        3_000_000, "work of a request, in characters to link (413)", minimum=1
    )  # fmt: skip
    keys: tuple[str, ...] = setting((), "an API key that clients must send; without any the server is open")
    origins: tuple[str, ...] = setting((), "an origin whose pages may call the API (CORS), * for all; else none")
    hosts: tuple[str, ...] = setting(
        (), "a name that clients may ask by, * for all; without any, a server for this machine only has localhost (421)"
    )  # fmt: skip
    metrics: bool = setting(True, "serve /metrics, behind the keys where there are any")
    log_texts: bool = setting(False, "write query strings, which may hold users' texts, to the log")

    def __post_init__(self) -> None:
        super().__post_init__()
        for origin in self.origins:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise SettingsError(f"origins: {origin!r} is no origin, such as https://example.org")
        if any(not key.strip() for key in self.keys):
            raise SettingsError("keys: an API key must not be empty")

    @property
    def is_local(self) -> bool:
        """Whether it listens to this machine only."""
        return self.host == "localhost" or is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host is an address of this machine that no other can reach."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
