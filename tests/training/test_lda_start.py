"""Where training of the paper's model starts sampling: ε and τ of TagMe*."""

from pathlib import Path

import numpy as np

from wikilda import train
from wikilda.sample import texts


def test_epsilon_and_tau_reach_the_sampler(model: Path, tmp_path: Path) -> None:
    """They decide where mentions start, so that a single sweep ends elsewhere."""
    source = tmp_path / "texts.txt"
    source.write_text("\n".join(each["text"].replace("\n", " ") for each in texts()), "utf-8")
    found = {}
    for name, values in {
        "usual": {},
        "same": {"epsilon": 0.25, "tau": 0.02},
        "strict": {"epsilon": 1.0, "tau": 1.0},
    }.items():
        settings = {"sweeps": 1, "burn_in": 0, "held_out": 0.0, "evaluated": 0, **values}
        made = train(model, source, tmp_path / name, settings, method="lda", workers=1)
        found[name] = np.array(made.words.values), np.array(made.mentions.values)
    assert all(map(np.array_equal, found["usual"], found["same"]))
    assert not all(
        a.shape == b.shape and np.array_equal(a, b) for a, b in zip(found["usual"], found["strict"], strict=True)
    )
