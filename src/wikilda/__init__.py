"""Entity linking with an LDA whose topics are wiki articles."""

__version__ = "0.1.0"
