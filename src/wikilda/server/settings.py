"""Settings of the server: its address, its limits and its keys."""

import ipaddress
from dataclasses import dataclass

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting

MOST_MENTIONS = 5_000  # of a request: nothing else runs while their numbers are read


@dataclass(frozen=True)
class ServerSettings(Settings):
    """Settings of the server. Sizes and times are limits, with the status code of exceeding them."""

    host: str = setting("127.0.0.1", "Address to listen on; 0.0.0.0 or :: for all interfaces.")
    port: int = setting(8000, "Port to listen on.", minimum=0, maximum=65535)
    workers: int = setting(1, "Processes; they share one memory-mapped model.", minimum=1)
    threads: int = setting(0, "Documents that one process links at a time; 0: its share of the cores.", minimum=0)
    queue: int = setting(64, "Most requests waiting for a thread of a process; more are answered 503.", minimum=1)
    seconds: float = setting(30.0, "Seconds that a request may wait and run; then it is answered 504.", above=0)
    patience: float = setting(
        10.0, "Seconds that a client may take to send its request, or to read its answer (408).", above=0
    )
    connections: int = setting(2000, "Most connections of a process; more are answered 503.", minimum=1)
    drain: int = setting(30, "Seconds that requests have to finish when the server is stopped.", minimum=1)
    max_body: int = setting(4_000_000, "Largest request in bytes (413).", minimum=1)
    max_text: int = setting(200_000, "Largest text in characters (413).", minimum=1)
    max_batch: int = setting(64, "Most documents in a batch (413).", minimum=1)
    max_work: int = setting(
        3_000_000, "Most work of a request, in characters to link (413).", minimum=1
    )  # fmt: skip
    keys: tuple[str, ...] = setting((), "An API key that clients must send; without keys the server is open.")
    origins: tuple[str, ...] = setting((), "An origin whose pages may call the API (CORS), * for all; else none.")
    hosts: tuple[str, ...] = setting(
        (), "A host name that clients may use, * for all; by default only localhost (421)."
    )  # fmt: skip
    metrics: bool = setting(True, "Serve /metrics, behind the keys where there are any.")
    log_texts: bool = setting(False, "Write query strings, which may hold users' texts, to the log.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for origin in self.origins:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise SettingsError(f"origins: {origin!r} is no origin, such as https://example.org")
        if any(not key.strip() for key in self.keys):
            raise SettingsError("keys: an API key is empty. Give one with at least one character.")

    @property
    def is_local(self) -> bool:
        """Whether it listens on this machine only."""
        return self.host == "localhost" or is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
