"""Reliability plots as SVG: how often answers of a confidence are right, beside the line where they should be."""

from html import escape

from wikilda.evaluation.nil import Calibration

_SIZE, _LEFT, _TOP = 180, 34, 22


def reliability(title: str, found: Calibration) -> str:
    """One plot. Bars are as wide as their bin; those of few answers are pale."""
    most = max((each.count for each in found.bins), default=0) or 1
    width = _SIZE / max(len(found.bins), 1)
    bars = []
    for number, each in enumerate(found.bins):
        if not each.count:
            continue
        height = each.right * _SIZE
        top, pale = _TOP + _SIZE - height, 0.25 + 0.75 * (each.count / most) ** 0.5
        about = f"{each.count:,} answers, confidence {each.confidence:.2f}, right {each.right:.2f}"
        bars.append(
            f'<rect x="{_LEFT + number * width + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}" '
            f'height="{max(height, 0.5):.1f}" fill="#3b73af" fill-opacity="{pale:.2f}">'
            f"<title>{about}</title></rect>"
            f'<circle cx="{_LEFT + each.confidence * _SIZE:.1f}" cy="{top:.1f}" r="2.5" fill="#b5442e"/>'
        )
    bottom, right = _TOP + _SIZE, _LEFT + _SIZE
    label = f"{title}: ECE {found.error:.3f}"
    return (
        f'<svg class="plot" role="img" aria-label="{escape(label)}" width="{right + 12}" height="{bottom + 34}">'
        f'<text x="{_LEFT}" y="14" class="name">{escape(label)}</text>'
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#999"/>'
        f"{''.join(bars)}"
        f'<line x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{_TOP}" stroke="#777" stroke-dasharray="4 3"/>'
        f'<text x="{_LEFT - 5}" y="{_TOP + 8}" text-anchor="end">1</text>'
        f'<text x="{_LEFT - 5}" y="{bottom}" text-anchor="end">0</text>'
        f'<text x="{_LEFT}" y="{bottom + 14}">0</text><text x="{right}" y="{bottom + 14}" text-anchor="end">1</text>'
        f'<text x="{_LEFT + _SIZE / 2}" y="{bottom + 28}" text-anchor="middle">confidence → share right</text></svg>'
    )
