"""Inference: which topics the words and mentions of a document have.

    model = Model.open("enwiki.model")
    sampler = Sampler(model, LdaSettings(sweeps=50, burn_in=10, coherence=True))
    sampled = sampler.sample(EncodedDocument(words, mentions, id="testa-7"))  # numbers in the knowledge, or −1

    sampled.mention(i)      topics (uint32) and posterior probabilities of mention i, best first
    sampled.guessed(i)      what TagMe* says, −1 for a mention without candidates
    sampled.mixture         topics and their shares of the document, largest first
    sampled.counts          whole numbers for training: by distinct symbol `sampled.packet.bag.symbols` (words before
                            mentions from `bag.first_mention` on) topics, places in the symbol's row (−1: a new pair),
                            and sweeps; a row adds up to `sampled.sweeps · bag.occurrences`
    sampled.rows[i]         which of those symbols mention i is

A sampler may be used by many threads: kernels run without the interpreter lock, and each thread has its own memory.
The result depends on the settings, the model's iteration (or the one given) and the document's id only.

Words that are not in the vocabulary are left out. A mention that is not (−1) has a posterior, too, over topics of the
document and all others by (α_k + N_k)/κ'_k; it means little, and makes the document slower.

In two steps, as engines need it: `form_packet` gathers a document's parameters and similarities, `tagme(packet)`
guesses (`choices` of the packet and `scores` of the guess are aligned), `sampler.sample_packet` samples.
`likelihood.HeldOut(model).log_likelihood(document)` is the held-out likelihood.

The folder reads in this order: special, random, weights, marks, similarity, packet, tagme, sums, ahead, layout, state,
coherence, draw, plan, topics, start, gibbs, counts, memory, sampler, likelihood, svi; then urn.
"""

from wikilda._core.random import stream_of
from wikilda.lda.expected_phi import Weights, prepare
from wikilda.lda.packet import Packet, form_packet
from wikilda.lda.sampler import Sampled, Sampler
from wikilda.lda.settings import LdaSettings
from wikilda.lda.tagme import Guess, tagme

__all__ = [
    "Guess",
    "LdaSettings",
    "Packet",
    "Sampled",
    "Sampler",
    "Weights",
    "form_packet",
    "prepare",
    "stream_of",
    "tagme",
]
