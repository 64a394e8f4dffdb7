"""From an empty cache, and from a full one, to the first answer."""
