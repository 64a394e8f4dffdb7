"""Wikis of any size with the shape of the real one: as a dump, as tables, as documents whose truth is known."""
