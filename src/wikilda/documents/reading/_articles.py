"""Articles of a MediaWiki dump as documents, with their links as mentions."""

from collections.abc import Iterator

from wikilda.documents.document import Document
from wikilda.mediawiki.dump import Piece, read_piece
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN, Site
from wikilda.mediawiki.wikitext import Scanned, dialect_of, scan
from wikilda.mediawiki.wikitext.render import ANCHOR_END, ANCHOR_START, IN_ASIDE
from wikilda.text.tokens import joined


def articles(piece: Piece, site: Site) -> Iterator[Document | tuple[str, str]]:
    """The articles of a piece of a dump; for a page that cannot be read, its title and the reason."""
    pages: list[RawPage] = []
    for page in pages_in(read_piece(piece), site.namespaces):
        if not isinstance(page, RawPage):
            yield page.title, page.reason
        elif page.namespace == MAIN and not page.redirect and page.wikitext:
            pages.append(page)
    scanned = scan(*joined([page.text for page in pages]), dialect_of(site))
    for number, page in enumerate(pages):
        yield _article(number, page, scanned)


def _article(number: int, page: RawPage, scanned: Scanned) -> Document:
    start, end = scanned.text_bounds[number : number + 2]
    links = scanned.links[:, scanned.link_bounds[number] : scanned.link_bounds[number + 1]]
    data = scanned.text[start:end]
    anchors = links[ANCHOR_START : ANCHOR_END + 1, links[IN_ASIDE] == 0].T - start
    characters = ((data & 0xC0) != 0x80).cumsum()  # how many begin up to each byte
    spans: list[tuple[int, int]] = []
    for first, last in anchors.tolist():
        if first < last and (not spans or characters[first] - 1 >= spans[-1][1]):
            spans.append((int(characters[first]) - 1, int(characters[last - 1])))
    return Document(data.tobytes().decode(), spans, page.title)
