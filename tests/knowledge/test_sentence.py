"""First sentences, which describe topics."""

import pytest

from wikilda.knowledge.first_sentence import first_sentence


@pytest.mark.parametrize(
    ("lead", "sentence"),
    [
        ("Croft is a cricketer. He bowls.", "Croft is a cricketer."),
        ("George H. W. Bush was a president. He ran.", "George H. W. Bush was a president."),
        ("St. Ives is in Cornwall. It is small.", "St. Ives is in Cornwall."),
        ("Born c. 1970 in the U.S. Army, he left. Then came.", "Born c. 1970 in the U.S. Army, he left."),
        ("Paris (; , ) is a city ( ) in France , they say. More.", "Paris is a city in France, they say."),
        ("Is it? “Yes.” And so on.", "Is it?"),
        ("He said “no.” Then he went.", "He said “no.”"),
        ("It cost 3.5 million. Nobody paid.", "It cost 3.5 million."),
        ("東京は日本の首都である。人口は多い。", "東京は日本の首都である。"),
        ("\n\n short\nThe first real paragraph is this one. Two.", "The first real paragraph is this one."),
        ("No end here", "No end here"),
        ("", ""),
    ],
)
def test_first_sentences(lead: str, sentence: str) -> None:
    assert first_sentence(lead) == sentence


def test_they_are_not_endless() -> None:
    assert len(first_sentence("word " * 1000)) <= 400
