"""A second process compiles half of the kernels when none is in the cache."""

from pathlib import Path

import pytest

from wikilda.linking import compile_ahead as module
from wikilda.linking.compile_ahead import compile_ahead, main


class Started:
    """Stands for a process; what it was started with is kept."""

    commands: list[list[str]]

    def __init__(self, command: list[str], **_: object) -> None:
        self.commands.append(command)

    def kill(self) -> None:
        pass


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    Started.commands = []
    monkeypatch.setattr(module.subprocess, "Popen", Started)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    monkeypatch.setattr(module, "is_cached", lambda _: False)
    return Started.commands


def test_it_is_started_once_and_for_a_second_core(
    model: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_ahead(model)
    assert [command[1:] for command in started] == [["-m", "wikilda.linking.compile_ahead", str(model)]]
    monkeypatch.setattr(module, "available_cores", lambda: 1)
    compile_ahead(model)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    monkeypatch.setattr(module, "is_cached", lambda _: True)
    compile_ahead(model)
    assert len(started) == 1


def test_a_machine_that_starts_no_process_links_all_the_same(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(module.subprocess, "Popen", refuse)
    compile_ahead(model)


def test_what_it_does_works(model: Path) -> None:
    main(str(model))
