"""Documents: read, mentions detected, encoded as symbols, written."""
