"""Updates of a model: newer dumps, own entities and own names."""

from wikilda.training.update._update import Updated, update

__all__ = ["Updated", "update"]
