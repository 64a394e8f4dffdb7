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
        ("Apple Computer, Inc. is a company. It sells.", "Apple Computer, Inc. is a company."),
        (
            "Asda Stores Ltd. (often styled as ASDA) is a chain. More.",
            "Asda Stores Ltd. (often styled as ASDA) is a chain.",
        ),
        ("The act (21 U.S.C. Chapter 13. Part B) is a law. More.", "The act (21 U.S.C. Chapter 13. Part B) is a law."),
        ("Bush Sr. Was he? Yes (he was. Not more.", "Bush Sr. Was he?"),
        ("Berlin is a in,,. More of it.", "Berlin is a in."),
        ("Berlin (, , ; Berlin ; ) is , of course , a city. More.", "Berlin (Berlin) is, of course, a city."),
        ("Ambrosia is sometimes the food\nof the gods. It is eaten.", "Ambrosia is sometimes the food of the gods."),
        (
            "Charles Sanders Peirce \n(pronounced purse) was a polymath. He.",
            "Charles Sanders Peirce (pronounced purse) was a polymath.",
        ),
        ("Berlin a fővárosa, és a régió centruma. 3,6 millió lakosával.", "Berlin a fővárosa, és a régió centruma."),
        ("It has approx. 300 pages of No. 5 paper. More.", "It has approx. 300 pages of No. 5 paper."),
        ("ബെർലിൻ തലസ്ഥാനമാണ്‌ ബെർലിൻ. കൂടാതെ വലിയ.", "ബെർലിൻ തലസ്ഥാനമാണ്‌ ബെർലിൻ."),
        ("ბერლინი — გერმანიის დედაქალაქი. ქალაქის მოსახლეობა.", "ბერლინი — გერმანიის დედაქალაქი."),
        ("برلن وفاقی جمہوریہ جرمنی کا دارالحکومت ہے۔ اور بھی", "برلن وفاقی جمہوریہ جرمنی کا دارالحکومت ہے۔"),
        (
            "It lies in the central Pacific Ocean at , about 3,100 km southwest of Honolulu. It is small.",
            "It lies in the central Pacific Ocean, about 3,100 km southwest of Honolulu.",
        ),
        (
            "Berlien is de hoofstad vaan Duitsland. 't Is ouch 'n apaart Bundesland.",
            "Berlien is de hoofstad vaan Duitsland.",
        ),
        (
            "Berlin glavni je grad sa 3.769.495 stanovnika (31. 12. 2020.) Pre rata imao je 4.5 miliona.",
            "Berlin glavni je grad sa 3.769.495 stanovnika (31. 12. 2020.)",
        ),
        ("Берлин, — Германин тĕп хули (1871 çултанпа). Европа.", "Берлин — Германин тĕп хули (1871 çултанпа)."),
        ("برلین بیر ایالت و شهر دیر. ۲۰۱۵-جی ایلین نۆفوس ساییمی.", "برلین بیر ایالت و شهر دیر."),
        (
            f"Paris (which is {'a very, very old and ' * 14}large. Really. City) is in France. More.",
            f"Paris (which is {'a very, very old and ' * 14}large. Really. City) is in France.",
        ),
        ("", ""),
    ],
)
def test_first_sentences(lead: str, sentence: str) -> None:
    assert first_sentence(lead) == sentence


@pytest.mark.parametrize(
    ("lead", "sentence", "language"),
    [
        (
            "Konrad Adam (* 1. März 1942 in Wuppertal) ist ein Journalist. Er war.",
            "Konrad Adam (* 1. März 1942 in Wuppertal) ist ein Journalist.", "de",
        ),
        ("Seit dem 3. Oktober gilt das Gesetz. Es ist neu.", "Seit dem 3. Oktober gilt das Gesetz.", "de"),
        ("Friedrich II. König von Preußen, regierte lange. Er starb.", "Friedrich II. König von Preußen, regierte lange.", "de"),
        ("It saw service in World War II. The plane is old.", "It saw service in World War II.", "en"),
        ("Ta sündis 24. Veebruaril Tallinnas. Ta on.", "Ta sündis 24. Veebruaril Tallinnas.", "et"),
    ],
)  # fmt: skip
def test_ordinals_do_not_end_a_sentence(lead: str, sentence: str, language: str) -> None:
    assert first_sentence(lead, language) == sentence


def test_they_are_not_endless() -> None:
    assert len(first_sentence("word " * 1000)) <= 400
