"""From a wiki to a model in one step: knowledge and untrained parameters in one directory."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikilda._core.artifact import MANIFEST, check_target
from wikilda._core.atomic import place_directory, work_directory
from wikilda._core.errors import InputError
from wikilda._core.jit import PARSED, tier
from wikilda.knowledge import BuildSettings, Knowledge
from wikilda.knowledge.account import HTML_FILE, JSON_FILE
from wikilda.model.create import create_model
from wikilda.model.model import Model
from wikilda.model.settings import PRESETS, ModelSettings
from wikilda.urn.learning import learn

if TYPE_CHECKING:
    from wikilda.knowledge import Resources

INSIDE = "knowledge"  # where a model has its knowledge, if the two were made together
_BUILD = BuildSettings()


def build(
    source: Any,
    target: str | Path,
    *,
    page_props: str | Path | None = None,
    instances: str | Path | None = None,
    settings: BuildSettings = _BUILD,
    model_settings: ModelSettings = PRESETS["default"],
    workers: int | None = None,
    memory: str = "1GB",
    overwrite: bool = False,
) -> Model:
    """Build a model from a wiki: `wikilda build`. The directory has all that linking needs.

    An interrupted build resumes when it is called again with the same arguments.

    Parameters
    ----------
    source
        A MediaWiki XML dump (`.xml`, `.bz2`, `.gz`, `.xz`), the parts of one, a directory of tables
        (docs/reference/formats.md), or a list of entities: CSV, TSV, JSON lines, Parquet, or a data frame (pandas,
        Polars, Arrow) with columns `id` and `name` (docs/guides/entities.md).
    target
        The directory to write.
    page_props
        The dump's `page_props.sql.gz`: Wikidata ids and disambiguation pages.
    instances
        A table of Wikidata items and what they are instances of (docs/method/types.md), for types.
    settings
        Which pages, mentions and words to keep.
    model_settings
        The priors of the model.
    workers, memory
        Processes, by default one per core, and memory for joins and sorts; the result does not depend on them.
    overwrite
        Whether to replace a model that exists.

    Examples
    --------
    >>> import wikilda
    >>> from wikilda.sample import SETTINGS, WIKI
    >>> model = wikilda.build(WIKI, scratch / "wiki", settings=SETTINGS, workers=1)
    >>> model
    Model('samplewiki', 249 topics, iteration 0)
    """
    from wikilda.knowledge.entities import is_list

    if is_list(source):
        if page_props is not None or instances is not None:
            raise InputError("page_props and instances go with a dump; a list of entities has wikidata and type.")
        return _build_list(source, Path(target), settings, model_settings, _resources(workers, memory), overwrite)
    files = _files(source)
    tier.expect_files(files, PARSED)
    more = [Path(each) for each in (page_props, instances) if each is not None]
    if page_props is not None and files[0].is_dir():
        raise InputError("page_props go with a dump; tables have a column `wikidata`.")
    for file in more:
        if not file.is_file():
            raise InputError(f"{file}: no such file.")
    target = Path(target)
    check_target(target, overwrite=overwrite)
    try:
        with work_directory(target, "building", _inputs([*files, *more], settings, model_settings)) as work:
            made = work / "model"
            if not (made / INSIDE / MANIFEST).is_file():
                known = _knowledge(files, work / INSIDE, page_props, instances, settings, _resources(workers, memory))
                first = create_model(known, work / "parameters", model_settings, overwrite=True)
                with first.derive(made, overwrite=made.exists()) as writer:
                    learned = learn(first, known)
                    writer.weights(learned.weights if learned else None)
                    writer.derived(learned=learned.to_mapping() if learned else {})
                known.path.rename(made / INSIDE)
                place_report(made)
            Model.open(made).redirect(INSIDE)
            place_directory(made, target)
    except BaseException:
        _remove_if_empty(target.with_name(f"{target.name}.building"))
        raise
    return Model.open(target)


def _build_list(
    source: Any, target: Path, settings: BuildSettings, model_settings: ModelSettings, resources: "Resources",
    overwrite: bool,
) -> Model:  # fmt: skip
    from wikilda.knowledge.build import build_from_entities
    from wikilda.knowledge.entities import read_entities

    check_target(target, overwrite=overwrite)
    listed = read_entities(source)
    with work_directory(target, "building", {}, restart=True, keep=False) as work:
        made = work / "model"
        known = build_from_entities(listed, work / INSIDE, settings, resources=resources)
        create_model(known, made, model_settings)
        known.path.rename(made / INSIDE)
        Model.open(made).redirect(INSIDE)
        place_directory(made, target)
    return Model.open(target)


def place_report(model: Path) -> None:
    """Move the report of a build from the knowledge to the model."""
    for name in (JSON_FILE, HTML_FILE):
        if (model / INSIDE / name).is_file():
            (model / INSIDE / name).replace(model / name)


def _files(source: str | Path | Sequence[str | Path]) -> list[Path]:
    files = [Path(each) for each in ([source] if isinstance(source, str | Path) else source)]
    for file in files:
        if not file.exists():
            raise InputError(f"{file}: no such file or directory.")
        if file.is_dir() and len(files) > 1:
            raise InputError(f"{file}: is a directory. Give dumps, or one directory of tables.")
    if not files:
        raise InputError("there is no dump to build from.")
    return files


def _knowledge(
    files: list[Path], target: Path, page_props: str | Path | None, instances: str | Path | None,
    settings: BuildSettings, resources: "Resources",
) -> Knowledge:  # fmt: skip
    from wikilda.knowledge.build import build_from_dump, build_from_tables

    if (target / MANIFEST).is_file():
        return Knowledge.open(target)
    classes = Path(instances) if instances is not None else None
    if files[0].is_dir():
        return build_from_tables(files[0], target, settings, instances=classes, resources=resources)
    props = Path(page_props) if page_props is not None else None
    return build_from_dump(files, target, settings, page_props=props, instances=classes, resources=resources)


def _resources(workers: int | None, memory: str) -> "Resources":
    from wikilda.knowledge.build import Resources

    return Resources(workers, memory) if workers else Resources(memory=memory)


def _inputs(files: list[Path], settings: BuildSettings, model_settings: ModelSettings) -> dict[str, Any]:
    """What a build depends on: an earlier one from other inputs is not resumed."""
    inside = [each for file in files if file.is_dir() for each in sorted(file.iterdir()) if each.is_file()]
    every = [*(file for file in files if file.is_file()), *inside]
    stamps = [[str(each.resolve()), each.stat().st_size, each.stat().st_mtime_ns] for each in every if each.is_file()]
    return {"files": stamps, "settings": settings.to_mapping(), "model settings": model_settings.to_mapping()}


def _remove_if_empty(work: Path) -> None:
    """Leave nothing of a build that failed before it had anything to resume from."""
    if work.is_dir() and not any(each.is_dir() for each in work.iterdir()):
        shutil.rmtree(work, ignore_errors=True)
