"""Taking changes of a wiki, own entities and own names into a model."""

from wikilda.training.update._update import Updated, update

__all__ = ["Updated", "update"]
