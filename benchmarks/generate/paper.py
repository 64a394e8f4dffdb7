"""The paper's knowledge: how many names, words and links a topic of it has.

With 4 million topics these give 11 million mention strings, 83 million parameters and 100 million links after
`wikilda build` (docs/experiments/scale.md); the world's words are 1.8 million.
"""

from benchmarks.generate.tables import Sizes
from benchmarks.generate.world import Shape

TOPICS = 4_000_000
SHAPE = Shape(aliases=1.745)
SIZES = Sizes(links=33.0, words=26.9)
