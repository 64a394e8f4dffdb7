"""What mentions mean, by a generalised Pólya urn over the link graph.

The paper's sampler (`wikilda.lda.sampler`) draws a topic for every word and mention, and a topic that was drawn
becomes more probable: N_k. Here only mentions are drawn, and a topic that was drawn also makes those more probable
that it is related to (Mimno et al. 2011 call this a generalised Pólya urn). A mention has a parent: the base, or
another mention. From the base it takes a topic by P(k|v); from another mention, that one's topic or a related one,
where the prior counts for less (t is `prior_exponent`). For mention i with string v

    P(z_i = k | rest) ∝ [ base_weight · P(k|v) + P(k|v)^t · (repeat_weight · N_k + Σ_j near_ij · R(k, z_j)) ]
                        · exp(word_weight · E_k + title_vk + context_weight · S_ik)

E_k is how well the document's words go with k and with what is linked to it (`words`); title_vk what the title says of
the string (`names`); R how k and another topic of the document are related by direct links and shared neighbours,
hubs damped (`relatedness`), and nearer mentions count more. Gibbs sweeps begin hot and are cooled (`gibbs`); the
posterior is the mean of the conditionals.

    urn = Urn(model, knowledge, UrnSettings())
    drawn = urn.draw(encode(document, knowledge))
    drawn.mention(i)        topics and posterior probabilities of mention i, best first

The folder reads in this order: settings, candidates, relatedness, words, names, gibbs, urn, evidence, method.
"""

from wikilda.urn._coreference import Name
from wikilda.urn._names import LinkCounts, TypicalLinks
from wikilda.urn.evidence import Evidence
from wikilda.urn.segmentation import segment
from wikilda.urn.settings import UrnSettings
from wikilda.urn.urn import Drawn, Part, Urn

__all__ = ["Drawn", "Evidence", "LinkCounts", "Name", "Part", "TypicalLinks", "Urn", "UrnSettings", "segment"]
