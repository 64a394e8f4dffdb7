"""The figures of a data set as HTML tables."""

from collections.abc import Iterable, Sequence
from html import escape

from wikilda.evaluation import metrics, nil
from wikilda.evaluation.metrics import Slice
from wikilda.evaluation.nil import Calibration
from wikilda.evaluation.results import Runs, gold_summary


def figures(runs: Runs) -> str:
    """All figures of a data set."""
    counts = gold_summary(runs[0].gold)
    complaints = "".join(f"<li>{escape(each)}</li>" for each in counts["complaints"])
    if complaints:
        complaints = f"<details><summary>What was not right with the file</summary><ul>{complaints}</ul></details>"
    return (
        f"<p>{counts['documents']:,} documents, {counts['mentions']:,} mentions: {counts['in_knowledge']:,} in the "
        f"knowledge, {counts['not_in_knowledge']:,} not in it, {counts['nil']:,} NIL.</p>"
        + complaints
        + _accuracy(runs)
        + _comparisons(runs)
        + '<div class="row">'
        + _slices("By ambiguity of the string", runs, [metrics.by_ambiguity(each) for each in runs])
        + _slices("By prior rank of gold", runs, [metrics.by_prior_rank(each) for each in runs])
        + "</div>"
        + _plots(runs)
    )  # fmt: skip


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table; what is not its first column stands right."""
    head = "".join(f"<th>{escape(each)}</th>" for each in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<table class="figures">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _accuracy(runs: Runs) -> str:
    rows = []
    for run in runs:
        found, without = metrics.accuracy(run), nil.nil_scores(run)
        rows.append(
            [run.method, f"{found.micro:.2f} ± {found.micro_deviation:.2f}",
             f"{found.macro:.2f} ± {found.macro_deviation:.2f}", f"{found.micro_all:.2f}", f"{found.recall:.2f}",
             f"{without.precision:.1f}", f"{without.recall:.1f}", f"{without.f1:.1f}", f"{without.accuracy:.2f}",
             f"{run.seconds:.1f}"]
        )  # fmt: skip
    columns = ["method", "micro", "macro", "micro of all", "candidate recall", "NIL precision", "recall", "F1",
               "accuracy with NIL", "seconds"]  # fmt: skip
    return table(columns, rows, "Accuracy in per cent, ± bootstrap deviations over documents")


def _comparisons(runs: Runs) -> str:
    rows = []
    for other in runs[:-1]:
        for name, each in metrics.compare(runs[-1], other).items():
            interval = f"{each.low:+.2f} to {each.high:+.2f}"
            rows.append([f"{runs[-1].method} − {other.method}", name, f"{each.value:+.2f}", interval, f"{each.p:.3f}"])
    columns = ["difference", "", "points", "95 % interval", "p"]
    return table(columns, rows, "Paired bootstrap over documents") if rows else ""


def _slices(title: str, runs: Runs, found: Sequence[list[Slice]]) -> str:
    rows = [
        [each.name, f"{each.mentions:,}", *(f"{slices[at].accuracy:.1f}" if each.mentions else "–" for slices in found)]
        for at, each in enumerate(found[0])
    ]
    return table(["", "mentions", *(run.method for run in runs)], rows, title)


def _plots(runs: Runs) -> str:
    plots = [reliability(run.method, nil.answer_calibration(run)) for run in runs if run.probabilistic]
    plots.append(reliability(f"{runs[-1].method}, NIL", nil.nil_calibration(runs[-1])))
    return f'<div class="row">{"".join(plots)}</div>'


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
