"""Adapting a model to a kind of text: learning what stands around mentions, from texts that nobody has labelled.

`adapt(linker, texts)` links texts and counts; `write_adapted` makes a model that knows the counts. Links are then drawn
with them (`wikilda.urn.context_evidence`).
"""

from wikilda.training.adaptation._adapt import adapt, write_adapted
from wikilda.training.adaptation._context_counts import Counts
from wikilda.training.adaptation._topic_types import kind_words

__all__ = ["Counts", "adapt", "kind_words", "write_adapted"]
