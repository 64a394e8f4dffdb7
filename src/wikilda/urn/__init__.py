"""The default method: the paper's conditional, generalised, with the wiki's link graph as a Pólya urn.

The paper (`wikilda.lda`) draws a topic for every word and mention by (α + N_k) · φ_kv, with N_k multiplied by the
coherence of k with the other topics. Here only mentions are inferred, coherence is added, and φ and other evidence have
weights that are learned from the wiki's own links (`wikilda.urn.learning`). For mention i with string v

    P(z_i = k | rest) ∝ P(v|k)^a · P(k)^b · (α + r · N_k + Σ_j near_ij · R(k, z_j))^γ · exp(w · E_k + title_vk + S_ik)

The bracket is an urn: a topic also makes related topics more probable (a generalised Pólya urn, Mimno et al. 2011).
E_k is the similarity of the document's words with k and its neighbours, title_vk compares the title with the string,
S_ik is the context of the mention in a model that was trained on texts. NIL has its own log odds.

Inference is deterministic: the other mentions enter by their posteriors (`wikilda.urn._mean_field`).

    urn = Urn(model, knowledge, UrnSettings())
    drawn = urn.draw(encode(document, knowledge))
    drawn.mention(i)        topics and posterior probabilities of mention i, best first

The folder reads in this order: settings, candidates, relatedness, words, names, mean_field, urn, evidence, learning.
"""

from wikilda.urn._coreference import Name, folded
from wikilda.urn.evidence import Evidence
from wikilda.urn.segmentation import segment
from wikilda.urn.settings import UrnSettings
from wikilda.urn.urn import Drawn, Part, Urn

__all__ = ["Drawn", "Evidence", "Name", "Part", "Urn", "UrnSettings", "folded", "segment"]
