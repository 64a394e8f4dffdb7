"""What MediaWiki's languages call disambiguation pages, lists and redirects, and which letters trail a link.

These words are not in `<siteinfo>`. A language that is missing here still works: redirects are marked in the
XML itself, disambiguation pages by `__DISAMBIG__` or by `page_props`, and every entry can be set.
"""

# ruff: noqa: E501, SIM905 (tables, not code)

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Language:
    """The words of one language; templates, categories and title patterns in lower case."""

    redirect: tuple[str, ...] = ()
    disambiguation_templates: tuple[str, ...] = ()
    disambiguation_categories: tuple[str, ...] = ()
    disambiguation_suffixes: tuple[str, ...] = ()
    list_prefixes: tuple[str, ...] = ()
    trail: str = "abcdefghijklmnopqrstuvwxyz"
    files: tuple[str, ...] = ()  # names of namespaces that are understood beside those in `<siteinfo>`
    categories: tuple[str, ...] = ()
    maintenance: str = ""  # a regular expression for names of categories that sort the work, not the world


_AZ = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
_ENGLISH = Language(
    disambiguation_templates=(
        "disambig", "disambiguation", "disambiguation page", "dab", "disamb", "hndis", "geodis", "hospitaldis",
        "schooldis", "numberdis", "mathdab", "roaddis",
        "human name disambiguation", "place name disambiguation", "letter-number combination disambiguation",
    ),
    disambiguation_categories=("disambiguation", "disambiguation pages", "all disambiguation pages", "ship disambiguation",
        "all article disambiguation pages", "human name disambiguation pages", "place name disambiguation pages",
        "educational institution disambiguation", "disambiguation pages with short description"),
    disambiguation_suffixes=("(disambiguation)",),
    list_prefixes=("list of ", "lists of ", "index of ", "outline of "),
    maintenance=r"^wikipedia |^(all )?(articles|pages|accuracy disputes|cleanup|redirects)\b|\bstubs?$|^(cs1|use) |\bdisambiguation\b",
)  # fmt: skip

LANGUAGES: dict[str, Language] = {
    "en": _ENGLISH,
    "simple": _ENGLISH,
    "de": Language(
        ("weiterleitung",), ("begriffsklärung", "bks"), ("begriffsklärung",), ("(begriffsklärung)",), ("liste ",), _AZ + "äöüß"
    ),
    "fr": Language(
        ("redirection",), ("homonymie", "paronymie", "patronymie", "toponymie"), ("homonymie",), ("(homonymie)",),
        ("liste ",), _AZ + "àâçéèêîôûäëïöüùÇÉÂÊÎÔÛÄËÏÖÜÀÈÙ",
    ),
    "es": Language(("redirección",), ("desambiguación", "desambig"), ("wikipedia:desambiguación",), ("(desambiguación)",),
        ("lista de ", "anexo:"), _AZ + "áéíóúñ"),
    "it": Language(("rinvia", "rinvio"), ("disambigua", "disambiguazione"), ("pagine di disambiguazione",), ("(disambigua)",),
        ("lista di ", "lista dei ", "lista delle "), _AZ + "àéèíîìóòúù"),
    "pt": Language(("redirecionamento",), ("desambiguação", "desambig"), ("desambiguação",), ("(desambiguação)",),
        ("lista de ", "anexo:lista"), _AZ + "áâãàéêẽçíòóôõq̃úüűũ"),
    "nl": Language(("doorverwijzing",), ("dp", "doorverwijspagina", "dpintro"), ("wikipedia:doorverwijspagina",),
        ("(doorverwijspagina)",), ("lijst van ",), _AZ + "äöüïëéèà"),
    "pl": Language(("patrz", "przekieruj", "tam"), ("ujednoznacznienie", "disambig"), ("strony ujednoznaczniające",),
        ("(ujednoznacznienie)",), ("lista ",), _AZ + "ęóąśłżźćńĘÓĄŚŁŻŹĆŃ"),
    "sv": Language(("omdirigering",), ("förgrening", "gren", "grensida"), ("förgreningssidor",), ("(olika betydelser)",),
        ("lista över ",), _AZ + "åäöéÅÄÖÉ"),
    "da": Language(("omdirigering",), ("flertydig",), ("flertydige titler",), ("(flertydig)",), ("liste over ",), _AZ + "æøå"),
    "no": Language(("omdirigering",), ("peker", "flertydig"), ("pekere",), ("(andre betydninger)",), ("liste over ",), _AZ + "æøå"),
    "fi": Language(("ohjaus", "uudelleenohjaus"), ("täsmennyssivu",), ("täsmennyssivut",), ("(täsmennyssivu)",), ("luettelo ",), _AZ + "äö"),
    "cs": Language(("přesměruj",), ("rozcestník", "příjmení"), ("rozcestníky",), ("(rozcestník)",), ("seznam ",), _AZ + "áčďéěíňóřšťúůýž"),
    "hu": Language(("átirányítás",), ("egyért",), ("egyértelműsítő lapok",), ("(egyértelműsítő lap)",), (), _AZ + "áéíóúöüőűÁÉÍÓÚÖÜŐŰ"),
    "ro": Language(("redirecteaza",), ("dezambiguizare",), ("dezambiguizare",), ("(dezambiguizare)",), ("listă de ", "lista "), _AZ + "ăâîşţșț"),
    "tr": Language(("yönlendirme", "yönlendi̇r"), ("anlam ayrımı",), ("anlam ayrımı sayfaları",), ("(anlam ayrımı)",), (), _AZ + "çğıöşüÇĞİÖŞÜ"),
    "ru": Language(("перенаправление", "перенапр"), ("неоднозначность", "disambig", "однофамильцы"),
        ("страницы значений", "многозначные термины"), ("(значения)",), ("список ",), _AZ + _CYRILLIC),
    "uk": Language(("перенаправлення",), ("неоднозначність", "disambig"), ("багатозначні терміни",), ("(значення)",), ("список ",),
        _AZ + "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
    "el": Language(("ανακατευθυνση",), ("αποσαφήνιση",), ("αποσαφήνιση",), ("(αποσαφήνιση)",), ("κατάλογος ",),
        _AZ + "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ"),
    "ar": Language(("تحويل",), ("توضيح",), ("صفحات توضيح",), ("(توضيح)",), ("قائمة ",), _AZ + "ءابتثجحخدذرزسشصضطظعغفقكلمنهوي"),
    "he": Language(("הפניה",), ("פירושונים",), ("פירושונים",), ("(פירושונים)",), ("רשימת ",), _AZ + "אבגדהוזחטיכךלמםנןסעפףצץקרשת"),
    "fa": Language(("تغییرمسیر", "تغییر_مسیر"), ("ابهام‌زدایی",), ("صفحه‌های ابهام‌زدایی",), ("(ابهام‌زدایی)",), ("فهرست ",),
        _AZ + "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیآ"),
    "ja": Language(("転送", "リダイレクト"), ("aimai", "曖昧さ回避"), ("曖昧さ回避",), ("(曖昧さ回避)",), (), _AZ),
    "zh": Language(("重定向",), ("disambig", "消歧义", "消歧義"), ("消歧义", "消歧義"), ("(消歧义)", "(消歧義)"), (), ""),
    "ko": Language(("넘겨주기",), ("동음이의",), ("동음이의어 문서",), ("(동음이의)",), (), _AZ),
    "vi": Language(("đổi",), ("định hướng", "trang định hướng"), ("trang định hướng",), ("(định hướng)",), ("danh sách ",), _AZ + "àâçéèêîôûäëïöüùÇÉÂÊÎÔÛÄËÏÖÜÀÈÙ"),
    "id": Language(("alih",), ("disambig", "disambiguasi"), ("disambiguasi",), ("(disambiguasi)",), ("daftar ",), _AZ),
    "ca": Language((), ("desambiguació",), ("pàgines de desambiguació",), ("(desambiguació)",), ("llista de ", "llista d'"), _AZ + "àèéíòóúç·ïü'"),
    "eu": Language(("birzuzendu",), ("argipen",), ("argipen orriak",), ("(argipena)",), ("zerrenda",), _AZ),
    "eo": Language(("alidirektu",), ("apartigilo",), ("apartigiloj",), ("(apartigilo)",), ("listo de ",), _AZ + "ĉĝĥĵŝŭ"),
    "la": Language((), ("discretiva",), ("paginae discretivae",), ("(discretiva)",), ("index ",), _AZ),
}  # fmt: skip

# Namespaces whose name has changed: pages still use the old one, which `<siteinfo>` does not list.
_OLD_FILES = {
    "ar": "صورة", "ca": "imatge", "da": "billede", "de": "bild", "el": "εικόνα", "es": "imagen", "eu": "irudi", "fa": "تصویر",
    "fi": "kuva", "he": "תמונה", "hu": "kép", "id": "gambar", "it": "immagine", "ja": "画像", "ko": "그림", "la": "imago",
    "nl": "afbeelding", "no": "bilde", "pl": "grafika", "pt": "imagem arquivo", "ro": "imagine", "ru": "изображение",
    "sv": "bild", "tr": "resim", "uk": "зображення", "vi": "hình", "zh": "文件 档案 檔案 图像 圖像",
}  # fmt: skip
_OLD_CATEGORIES = {"ja": "カテゴリ", "zh": "分类 分類"}

REDIRECT_WORDS = ("redirect",)  # known to every wiki, beside its own

# Prefixes of links that leave the wiki: the sister projects, and every Wikipedia's language code.
SISTERS = frozenset(
    "w wikipedia wikt wiktionary b wikibooks n wikinews q wikiquote s wikisource v wikiversity voy wikivoyage c commons "
    "d wikidata m meta metawikipedia mw mediawikiwiki species wikispecies incubator foundation wmf phab phabricator "
    "bugzilla toollabs doi google imdbname imdbtitle rfc pmid oeis arxiv acronym".split()
)
LANGUAGE_CODES = frozenset(
    "aa ab ace ady af ak als alt am ami an ang ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg bcl be "
    "be-tarask be-x-old bg bh bi bjn blk bm bn bo bpy br bs bug bxr ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh cs csb "
    "cu cv cy da dag de din diq dsb dty dv dz ee el eml en eo es et eu ext fa ff fi fiu-vro fj fo fr frp frr fur fy ga gag gan "
    "gcr gd gl glk gn gom gor got gu guc gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia id ie ig ii ik ilo inh io "
    "is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg ki kj kk kl km kn ko koi kr krc ks ksh ku kv kw ky la lad lb lbe lez lfn "
    "lg li lij lld lmo ln lo lrc lt ltg lv mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mr mrj ms mt mus mwl my myv "
    "mzn na nah nap nds nds-nl ne new ng nia nl nn no nov nqo nrm nso nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi "
    "pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara ru rue rw sa sah sat sc scn sco sd se sg sh shi shn si "
    "simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw szl szy ta tay tcy te tet tg th ti tk tl tn to tpi tr trv ts tt "
    "tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo wa war wo wuu xal xh xmf yi yo za zea zh zh-classical zh-min-nan zh-yue "
    "zu".split()
)


def language(code: str) -> Language:
    """The words of a language, or of none that we know."""
    known = next((each for each in (code, code.split("-")[0]) if each in LANGUAGES), "")
    words = LANGUAGES.get(known, Language())
    old = (tuple(names.get(known, "").split()) for names in (_OLD_FILES, _OLD_CATEGORIES))
    return replace(words, files=next(old), categories=next(old))
