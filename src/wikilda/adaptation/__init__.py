"""Adapting a model to a kind of text: learning what stands around mentions, from texts that nobody has labelled.

`adapt(linker, texts)` links texts and counts; `write_adapted` makes a model that knows the counts. Links are then drawn
with them (`wikilda.inference.urn.surroundings`).
"""

from wikilda.adaptation.adapt import adapt, write_adapted
from wikilda.adaptation.counts import Counts
from wikilda.adaptation.kinds import kind_words

__all__ = ["Counts", "adapt", "kind_words", "write_adapted"]
