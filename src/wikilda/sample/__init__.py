"""The sample wiki and texts that ship with the package."""
