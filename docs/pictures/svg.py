"""A few shapes for diagrams, as SVG that follows the reader's light or dark mode."""

from dataclasses import dataclass, field
from html import escape
from math import hypot

_STYLE = """
  svg { --ink: #1f2328; --line: #57606a; --box: #f6f8fa; --seen: #d8dee4; --accent: #0969da; --page: #ffffff }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --line: #8b949e; --box: #161b22; --seen: #373e47; --accent: #4493f8; --page: #0d1117 }
  }
  text { font: 14px system-ui, sans-serif; fill: var(--ink); text-anchor: middle; dominant-baseline: central }
  .small { font-size: 12px; fill: var(--line) } .left { text-anchor: start } .title { font-weight: 600 }
  .box, .node { fill: var(--box); stroke: var(--line); stroke-width: 1.3 } .seen { fill: var(--seen) }
  .plate { fill: none; stroke: var(--line); stroke-width: 1.1 }
  .page { fill: var(--page) }
  .arrow { stroke: var(--line); stroke-width: 1.3; fill: none; marker-end: url(#head) }
  .accent { stroke: var(--accent) } .loop { stroke-dasharray: 5 4 }
""".strip()
_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
)
_RADIUS = 21


@dataclass(frozen=True)
class Shape:
    """Something that arrows may join: its centre, and half of its width and height."""

    x: float
    y: float
    width: float
    height: float
    round: bool = False

    def edge(self, toward: "Shape") -> tuple[float, float]:
        """Where the line to another shape leaves this one."""
        dx, dy = toward.x - self.x, toward.y - self.y
        if self.round:
            scale = self.width / hypot(dx, dy)
        else:
            scale = min(self.width / abs(dx) if dx else 9e9, self.height / abs(dy) if dy else 9e9)
        return self.x + dx * scale, self.y + dy * scale


@dataclass
class Drawing:
    """An SVG of a given size; shapes are added to it."""

    width: int
    height: int
    label: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "") -> None:
        """Add a line of text."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>')

    def node(self, x: float, y: float, name: str, about: str = "", *, seen: bool = False, below: bool = True) -> Shape:
        """Add a random variable of a graphical model; shaded if it is observed."""
        kind = "node seen" if seen else "node"
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS}" class="{kind}"/>')
        self.text(x, y, name)
        if about:
            self.text(x, y + (34 if below else -34), about, "small")
        return Shape(x, y, _RADIUS, _RADIUS, round=True)

    def box(self, x: float, y: float, width: float, height: float, title: str, *lines: str) -> Shape:
        """Add a box around (x, y) with a title and lines of text."""
        self.parts.append(
            f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="7" '
            'class="box"/>'
        )
        top = y - 8.5 * len(lines)
        self.text(x, top, title, "title")
        for at, line in enumerate(lines, 1):
            self.text(x, top + 17 * at, line, "small")
        return Shape(x, y, width / 2, height / 2)

    def plate(self, x: float, y: float, width: float, height: float, count: str) -> None:
        """Add a plate: what is in it is repeated `count` times."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="10" class="plate"/>')
        self.text(x + 10, y + height - 14, count, "small left")

    def arrow(self, source: Shape, target: Shape, kind: str = "") -> None:
        """Join two shapes."""
        (x, y), (u, v) = source.edge(target), target.edge(source)
        self.path(f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}", kind)

    def path(self, path: str, kind: str = "") -> None:
        """Add an arrow along a path."""
        self.parts.append(f'<path d="{path}" class="arrow {kind}"/>')

    def svg(self) -> str:
        """The drawing as a file."""
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" role="img" aria-label="{escape(self.label)}">',
            f"<style>{_STYLE}</style>",
            _HEAD,
            f'<rect width="{self.width}" height="{self.height}" class="page"/>',
            *self.parts,
            "</svg>\n",
        ])  # fmt: skip
