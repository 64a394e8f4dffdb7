"""Learn the weights that ship with the package from several models together.

    python -m benchmarks.weights.pool MODEL… [-o src/wikilda/model/pooled_weights.json]

Models are built from dumps (`wikilda build`), so that they have a sample of articles. Nothing but the wikis' own links
is used.
"""

import argparse
import json
from pathlib import Path

from wikilda.knowledge.held_out import articles
from wikilda.model import Model
from wikilda.model.weights import Weights
from wikilda.urn.learning import Prepared, fit, measure, prepare, shift_bias
from wikilda.urn.settings import UrnSettings
from wikilda.urn.urn import Urn

# Where learning begins: the prior counts as it is, other evidence little.
NEUTRAL = Weights(naming=1.0, popularity=1.0, words=1.0, graph=1.0, nil_constant=-2.0)
SPREAD = 3.0  # hardly any prior
ROUNDS = 6
DIGITS = 2


def sample_of(path: Path) -> tuple[Urn, list[Prepared]]:
    """The urn of a model and the articles that its knowledge has kept."""
    model = Model.open(path)
    urn = Urn(model, model.knowledge(), UrnSettings())
    return urn, [part for article in articles(urn.knowledge) for part in prepare(urn, article)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    samples = [sample_of(path) for path in args.models]
    whole = fit(samples, NEUTRAL, spread=SPREAD, rounds=ROUNDS)
    weights = {name: round(value, DIGITS) for name, value in whole.to_mapping().items()}
    wikis = []
    for number, (urn, sample) in enumerate(samples):
        others = [each for at, each in enumerate(samples) if at != number] or [(urn, sample[0::2])]
        rest = fit(others, NEUTRAL, spread=SPREAD, rounds=ROUNDS)
        accuracy, prior, area = measure(urn.with_weights(rest), sample)
        wikis.append({"wiki": urn.knowledge.site.database, "topics": len(urn.knowledge.titles),
                      "articles": len(sample), "accuracy": round(float(accuracy), 4), "prior": round(float(prior), 4),
                      "nil_area": round(area, 4)})  # fmt: skip
        print(wikis[-1], flush=True)
    bias = [round(each, DIGITS) for each in shift_bias(samples, NEUTRAL, SPREAD, ROUNDS)]
    about = "of each wiki with the weights of the others"
    found = {"wikis": wikis, "accuracy": about, "weights": weights, "bias": bias}
    text = json.dumps(found, indent=2) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
