"""Text to symbols: the same characters and tokens for wikis, corpora and documents."""

from wikilda.text.characters import lower
from wikilda.text.tokens import mention_key, normalized, token_hashes, word_hash

__all__ = ["lower", "mention_key", "normalized", "token_hashes", "word_hash"]
