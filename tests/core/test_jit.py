"""Kernels run interpreted, compiled, or partly so, with the same bits; what is compiled is kept and found again."""

import errno
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from wikilda import Document, Linker
from wikilda._core import compiler, jit, kernel_cache
from wikilda._core.random import alias_table
from wikilda.sample import MODEL, texts
from wikilda.text import tokens

KERNEL = "from wikilda._core.jit import njit\n"
compiled_only = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")


@pytest.fixture
def stamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of its own: a imports b, b imports c and a, c has no kernels and imports d."""
    monkeypatch.setattr(kernel_cache, "_PACKAGE", tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "a.py").write_text(KERNEL + "from wikilda.x.b import f\n")
    (tmp_path / "x" / "b.py").write_text(KERNEL + "from wikilda.c import g\nfrom wikilda.a import (\n    h,\n)\n")
    (tmp_path / "c.py").write_text("from wikilda.d import i\n")
    (tmp_path / "d.py").write_text(KERNEL)
    return tmp_path


def stamp(file: Path) -> str:
    kernel_cache._read.cache_clear()
    kernel_cache.stamp.cache_clear()
    return kernel_cache.stamp(file)


def test_a_stamp_is_of_all_kernels_that_are_imported(stamps: Path) -> None:
    before = stamp(stamps / "a.py")
    assert stamp(stamps / "a.py") == before
    (stamps / "c.py").write_text("# has no kernels\nfrom wikilda.d import i\n")
    (stamps / "d.py").write_text(KERNEL + "# is not imported by one that has\n")
    assert stamp(stamps / "a.py") == before
    (stamps / "x" / "b.py").write_text(KERNEL + "from wikilda.c import g\nfrom wikilda.a import h\n")
    assert stamp(stamps / "a.py") != before


def test_all_files_with_kernels_have_a_stamp_and_no_others() -> None:
    for file in kernel_cache._PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        has = re.search(r"^@(njit|inner|bare|inlined|emitted|intrinsic)\b", text, re.M)
        assert bool(kernel_cache._read(file)[0]) == bool(has), file


def test_a_stamp_covers_intrinsics() -> None:
    """They are imported inside of a function."""
    files = kernel_cache._read(kernel_cache._PACKAGE / "lda" / "_ordered_sums.py")[1]
    assert kernel_cache._PACKAGE / "lda" / "_intrinsics.py" in files


def test_one_module_knows_numba() -> None:
    """Besides it, only the parts that are written in the compiler's own code do."""
    source = Path(jit.__file__).parents[1]
    users = [
        file.name
        for file in source.rglob("*.py")
        if re.search(r"^\s*(import|from) (numba|llvmlite)", file.read_text("utf-8"), re.M)
    ]
    assert sorted(users) == ["_compiled.py", "_intrinsics.py"]


@compiled_only
def test_the_private_names_of_numba_are_there() -> None:
    """All that the package uses of Numba beside its documentation."""
    from numba.core import caching, compiler, event, runtime
    from numba.core.options import DefaultOptions, TargetOptions

    assert callable(runtime.rtsys.initialize)
    assert callable(compiler.CompileResult._rebuild)
    assert {"load", "save", "flush"} <= set(dir(caching.IndexDataCacheFile))
    assert {"_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"} <= set(TargetOptions.__dict__) | set(
        DefaultOptions.__dict__
    )
    assert callable(event.register)
    assert {"on_start", "on_end"} <= set(dir(event.Listener))
    assert callable(tokens.normalize.dispatcher._compile_for_args)  # type: ignore[attr-defined]


# --- The same bits ----------------------------------------------------------------------------------------------------


def in_tier(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels run interpreted, or compiled, or one or the other by chance."""
    chance, call = random.Random(how), jit.Kernel.__call__

    def run(kernel: Any, *arguments: Any) -> Any:
        if how == "compiled" or (how.startswith("mixed") and chance.random() < 0.5):
            return call(kernel, *arguments)
        with np.errstate(all="ignore"):
            return kernel.plain(*arguments)

    monkeypatch.setattr(jit.Kernel, "__call__", run)


def answers(linker: Linker, document: Document) -> list[Any]:
    """Everything that is inferred, to the last bit."""
    drawn: Any = linker.infer(document).inferred
    linked, explained = linker.link(document), linker.explain(document)
    return [
        [(each.dtype.str, each.tobytes()) for each in (drawn.topics, drawn.posterior, drawn.from_base, drawn.nil)],
        [(each.start, each.end, each.confidence.hex()) for each in linked.mentions],
        [(each.entity.title, float(each.share).hex()) for each in linked.topics],
        repr(explained),
    ]


STORIES = [each["text"] for each in texts()] + [
    "Croft took five wickets for England. Zyx Holdings, Ltd. of Cardiff paid Mr Croft in 1998; Croft's team won.",
    "WASIM AKRAM and Waqar Younis bowled at Lord's; Pakistan won by nine wickets. Łódź, São Paulo, 東京 and ÖBB watched.",
    "",
]


@compiled_only
@pytest.mark.parametrize("how", ["interpreted", "mixed 1", "mixed 2", "mixed 3"])
def test_answers_have_the_same_bits_in_every_tier(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for tier in ("compiled", how):
        with monkeypatch.context() as patch:
            in_tier(tier, patch)
            linker = Linker.open(MODEL)
            found[tier] = [answers(linker, Document(text, None, str(n))) for n, text in enumerate(STORIES)]
    assert found[how] == found["compiled"]


@compiled_only
def test_the_papers_sampler_has_the_same_bits_in_every_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {}
    for tier in ("compiled", "interpreted", "mixed"):
        with monkeypatch.context() as patch:
            in_tier(tier, patch)
            linker = Linker.open(MODEL, method="lda", settings={"sweeps": 20})
            linked = linker.link(STORIES[0])
            found[tier] = repr(linked), [float(each.share).hex() for each in linked.topics]
    assert found["interpreted"] == found["mixed"] == found["compiled"]


@jit.njit
def logs_and_powers(values: Any) -> Any:
    return np.exp(values[0]), np.log(values[1]), np.log1p(values[1]), values[1] ** values[2], np.log(values[3])


@compiled_only
def test_functions_are_those_of_the_c_library() -> None:
    """Those of NumPy have other last bits on processors with long vectors."""
    draw = np.random.default_rng(1)
    for _ in range(2000):
        values = np.array([draw.normal(0, 20), draw.exponential(), draw.normal(), 0.0])
        bits = [float(each).hex() for each in logs_and_powers(values)]
        with np.errstate(all="ignore"):
            assert [float(each).hex() for each in logs_and_powers.plain(values)] == bits  # type: ignore[attr-defined]


def test_what_would_differ_is_refused() -> None:
    with pytest.raises(TypeError, match="convert it"):
        logs_and_powers.plain(np.ones(4, np.float32))  # type: ignore[attr-defined]


def test_a_part_of_kernels_is_not_called() -> None:
    with pytest.raises(TypeError, match="int64 is a part of kernels"):
        jit.int64(1)


def test_kernels_and_parts_travel_by_name() -> None:
    assert pickle.loads(pickle.dumps((alias_table, jit.int64))) == (alias_table, jit.int64)


# --- The cache --------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
from wikilda._core.random import alias_table
import numpy
print(alias_table(numpy.ones(2))[0], alias_table(numpy.ones(3))[1].dtype, "numba" in sys.modules)
"""
LONG = """
import wikilda._core._compiled
wikilda._core._compiled.QUIET_SECONDS = 0.0
"""
COMPILED, INTERPRETED = "[1. 1.] uint32 True\n", "[1. 1.] uint32 False\n"
ONCE, EVERY_TIME = "wikilda: compiling kernels: once", "wikilda: compiling kernels: every process does"
BEHIND = "wikilda: kernels run interpreted while a process in the background compiles them"


def start(policy: str, program: str = PROGRAM, **places: object) -> "subprocess.Popen[str]":
    """A process that needs a kernel, with these places for a cache and no others."""
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "WIKILDA_COMPILE", "CI")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    environment = {**kept, **{name: str(place) for name, place in places.items()}, "WIKILDA_COMPILE": policy}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", program], text=True, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def finish(process: "subprocess.Popen[str]") -> tuple[str, list[str]]:
    """What a process has printed, and said in lines."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err.splitlines()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A place for a cache; the test waits for the process that compiles into it."""
    yield tmp_path / "cache"
    wait_for_compiler(tmp_path / "cache")


def lock_of(place: Path) -> Path:
    [own] = [each for each in place.iterdir() if each.is_dir()]
    return own / "lock"


def wait_for_compiler(place: Path) -> None:
    """Wait until nothing is wanted, and nobody compiles."""
    if not place.is_dir() or not any(place.iterdir()):
        return
    while any((lock_of(place).parent / "wanted").glob("*.json")):
        time.sleep(0.05)
    with FileLock(lock_of(place), timeout=60):
        pass


@compiled_only
def test_without_a_place_for_a_cache_nothing_waits_and_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out, [said] = finish(start("background", NUMBA_CACHE_DIR=tmp_path / "file"))
    assert (out, "cannot be written to. Set NUMBA_CACHE_DIR" in said) == (INTERPRETED, True)
    out, [said] = finish(start("now", HOME=tmp_path / "file"))
    assert (out, said.startswith(EVERY_TIME), "NUMBA_CACHE_DIR" in said) == (COMPILED, True, True)
    assert finish(start("never", NUMBA_CACHE_DIR=tmp_path / "file")) == (INTERPRETED, [])


@compiled_only
def test_a_home_is_enough_and_two_processes_may_compile_at_once(tmp_path: Path) -> None:
    both = [finish(each) for each in [start("now", LONG + PROGRAM, HOME=tmp_path) for _ in range(2)]]
    assert [(out, [line.startswith(ONCE) for line in said]) for out, said in both] == [(COMPILED, [True])] * 2
    assert finish(start("now", HOME=tmp_path)) == (COMPILED, [])
    assert finish(start("never", HOME=tmp_path)) == (COMPILED, [])  # loads what is there


@compiled_only
def test_a_cache_that_cannot_be_read_is_replaced(tmp_path: Path) -> None:
    import numba

    current = pickle.dumps(numba.__version__)
    assert finish(start("now", NUMBA_CACHE_DIR=tmp_path))[0] == COMPILED
    for index in (b"cut short", current, current + b"cut short", current + b"cwikilda.gone\nKind\n."):
        for file in tmp_path.rglob("*.nbi"):
            file.write_bytes(index)
        assert finish(start("never", NUMBA_CACHE_DIR=tmp_path)) == (COMPILED, [])  # Numba cannot be imported
        [said] = finish(start("now", LONG + PROGRAM, NUMBA_CACHE_DIR=tmp_path))[1]
        assert said.startswith(ONCE)
        assert finish(start("now", NUMBA_CACHE_DIR=tmp_path)) == (COMPILED, [])


@compiled_only
def test_kernels_for_another_processor_are_not_used(tmp_path: Path) -> None:
    finish(start("now", NUMBA_CACHE_DIR=tmp_path, NUMBA_CPU_NAME="generic"))
    [said] = finish(start("now", LONG + PROGRAM, NUMBA_CACHE_DIR=tmp_path))[1]
    assert said.startswith(ONCE)
    assert finish(start("now", NUMBA_CACHE_DIR=tmp_path, NUMBA_CPU_NAME="generic")) == (COMPILED, [])


@compiled_only
def test_a_full_disk_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from numba.core import caching

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)

    @jit.njit
    def twice(x: int) -> int:
        return 2 * x

    assert (twice(2), twice(2.5)) == (4, 5.0)  # type: ignore[arg-type]
    assert capsys.readouterr().err.count("cannot be kept (No space left on device)") == 1


@compiled_only
def test_two_installations_have_two_caches(tmp_path: Path) -> None:
    source = Path(jit.__file__).parents[1]
    for version in ("one", "two"):
        shutil.copytree(source / "_core", tmp_path / version / "wikilda" / "_core")
        shutil.copy(source / "__init__.py", tmp_path / version / "wikilda")
    path = os.environ.get("PYTHONPATH", "")
    for version in ("one", "two"):
        places = {"NUMBA_CACHE_DIR": tmp_path / "cache", "PYTHONPATH": f"{tmp_path / version}{os.pathsep}{path}"}
        [said] = finish(start("now", LONG + PROGRAM, **places))[1]
        assert said.startswith(ONCE)
        assert finish(start("now", **places)) == (COMPILED, [])
    assert len(list((tmp_path / "cache").iterdir())) == 2


NESTED = (
    KERNEL.replace("njit", "inner, njit")
    + """import numpy as np

@njit
def plain(values):
    return np.cumsum(values), len(values)

@inner
def part(values):
    return plain(values)[0]

@njit
def whole(values):
    return part(values), np.sum(values)
"""
)


@compiled_only
def test_a_kernel_that_is_loaded_while_a_part_is_compiled_can_be_called(tmp_path: Path) -> None:
    (tmp_path / "nested.py").write_text(NESTED)
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    for names in ("plain", "whole plain"):
        program = "".join(f"print(nested.{name}(np.ones(2)))\n" for name in names.split())
        program = f"import nested\nimport numpy as np\n{program}"
        out, _ = finish(start("now", program, NUMBA_CACHE_DIR=tmp_path / "cache", PYTHONPATH=path))
    assert out.splitlines() == ["(array([1., 2.]), 2.0)", "(array([1., 2.]), 2)"]


# --- In the background ------------------------------------------------------------------------------------------------


@compiled_only
def test_kernels_are_compiled_behind_a_process_that_has_ended(place: Path) -> None:
    out, [said] = finish(start("background", NUMBA_CACHE_DIR=place))
    assert (out, said.startswith(BEHIND)) == (INTERPRETED, True)
    wait_for_compiler(place)
    assert finish(start("never", NUMBA_CACHE_DIR=place)) == (COMPILED, [])
    assert finish(start("background", NUMBA_CACHE_DIR=place)) == (COMPILED, [])


SWITCHING = """
import sys, time
from wikilda._core.random import alias_table
import numpy
assert alias_table(numpy.ones(2))[0].tolist() == [1, 1]
before = "numba" in sys.modules
while not (alias_table._dispatcher and alias_table._dispatcher.overloads):
    assert alias_table(numpy.ones(2))[0].tolist() == [1, 1]
    time.sleep(0.05)
print(before)
"""


@compiled_only
def test_a_running_process_takes_what_has_been_compiled(place: Path) -> None:
    assert finish(start("background", SWITCHING, NUMBA_CACHE_DIR=place))[0] == "False\n"


@compiled_only
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes_run_kernels_too(method: str, place: Path) -> None:
    program = f"""
import multiprocessing, numpy
from wikilda._core.random import alias_table
if __name__ == "__main__":
    alias_table(numpy.ones(2))
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(alias_table, [numpy.ones(2), numpy.ones(3)])[1][0])
"""
    for policy in ("background", "now"):
        before = LONG if policy == "now" else ""
        out, said = finish(start(policy, before + program, NUMBA_CACHE_DIR=place))
        assert (out, len(said)) == ("[1. 1. 1.]\n", 1), said
        wait_for_compiler(place)
        shutil.rmtree(place)


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A cache of the test's own in this process; what is in its directory of wanted kernels."""
    monkeypatch.setattr(kernel_cache, "directory", lambda: tmp_path)
    monkeypatch.setattr(kernel_cache, "is_writable", lambda: True)
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "wanted").mkdir()
    return lambda: sorted(each.suffix for each in (tmp_path / "wanted").iterdir())


def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    commands: list[Any] = []

    class Process:
        def __init__(self, command: list[str], **options: Any) -> None:
            commands.append((command, options))

        def wait(self) -> None:
            pass

    monkeypatch.setattr(kernel_cache, "_Detached", Process)
    return commands


def test_a_compiler_is_not_started_where_one_runs(
    spool: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = started(monkeypatch)
    with FileLock(tmp_path / "lock"):
        kernel_cache.Starter().want(alias_table.function, (np.ones(2),))  # type: ignore[attr-defined]
        assert (spool(), commands) == ([".json"], [])
    kernel_cache.Starter().want(alias_table.function, (np.ones(2),))  # type: ignore[attr-defined]
    [(command, options)] = commands
    assert command == [sys.executable, "-P", "-m", "wikilda._core.compiler"]
    assert options["start_new_session"]
    assert spool() == [".json"]


def test_a_second_compiler_ends_at_once(tmp_path: Path) -> None:
    program = (
        "from wikilda._core import kernel_cache as c; c.make_directory(c.directory() / 'wanted'); print(c.directory())"
    )
    own = Path(finish(start("never", program, NUMBA_CACHE_DIR=tmp_path))[0].strip())
    (own / "wanted" / "some.json").write_text("{}")
    with FileLock(own / "lock"):
        finish(start("now", "from wikilda._core.compiler import main; main()", NUMBA_CACHE_DIR=tmp_path))
    assert (own / "wanted" / "some.json").is_file()


@pytest.mark.parametrize("where", ["CI", "container", "read-only"])
def test_where_nothing_is_started(
    where: str, spool: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = started(monkeypatch)
    if where == "CI":
        monkeypatch.setenv("CI", "true")
    elif where == "container":
        monkeypatch.setattr(os, "getpid", lambda: 1)
    else:
        monkeypatch.setattr(kernel_cache, "is_writable", lambda: False)
        monkeypatch.setattr(jit._Said, "lines", set())
    starter = kernel_cache.Starter()
    for _ in range(2):
        starter.want(alias_table.function, (np.ones(2),))  # type: ignore[attr-defined]
    assert (spool(), commands) == ([], [])
    assert capsys.readouterr().err.count("\n") == (where == "read-only")


def test_arguments_that_no_kernel_takes_are_not_noted(
    spool: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = started(monkeypatch)
    kernel_cache.Starter().want(alias_table.function, ("text",))  # type: ignore[attr-defined]
    assert (spool(), commands) == ([], [])


@compiled_only
def test_what_cannot_be_compiled_is_tried_no_more(
    spool: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(monkeypatch)
    bad = ("no array",)
    monkeypatch.setattr(kernel_cache, "describe", lambda _: ["float"])  # for which the kernel has no meaning
    kernel_cache.Starter().want(alias_table.function, bad)  # type: ignore[attr-defined]
    with monkeypatch.context() as patch:
        patch.setattr(jit.tier, "set_policy", lambda _: None)
        assert compiler.compile_wanted(wait=0) == 0
    assert spool() == [".tried"]
    kernel_cache.Starter().want(alias_table.function, bad)  # type: ignore[attr-defined]
    assert spool() == [".tried"]
    assert "Error" in next((tmp_path / "wanted").iterdir()).read_text()


@compiled_only
def test_a_compiler_that_is_killed_leaves_a_cache_that_works(place: Path) -> None:
    """It is started by hand here, with something wanted, and killed once it has begun."""
    place.mkdir()
    program = """
import numpy, sys
from wikilda._core import kernel_cache
kernel_cache.Starter.start = lambda _: None
from wikilda._core.random import alias_table
alias_table(numpy.ones(2))
"""
    finish(start("background", program, NUMBA_CACHE_DIR=place))
    wanted = lock_of(place).parent / "wanted"
    for attempts in (1, 2):
        process = start("now", "from wikilda._core.compiler import main; main()", NUMBA_CACHE_DIR=place)
        while not any(each.stat().st_size == attempts for each in wanted.glob("*.tried")):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert finish(start("never", NUMBA_CACHE_DIR=place))[0] == INTERPRETED
    finish(start("now", "from wikilda._core.compiler import main; main()", NUMBA_CACHE_DIR=place))
    assert list(wanted.iterdir()) == []
    assert finish(start("never", NUMBA_CACHE_DIR=place)) == (COMPILED, [])


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((0, 3), np.float32), np.zeros(4, np.uint8)[::2], np.zeros((3, 3))[:, 1], np.zeros((2, 3), order="F"),
        np.frombuffer(b"12345678", np.uint64), np.zeros((4, 4))[::2, ::2], (1, 2.5, True, np.uint64(3), np.bool_(1)),
        kernel_cache.Place(Path(), "", "", None)._replace(directory=1, base=2.0, stamp=np.float32(1), key=()),
    ],
)  # fmt: skip
@compiled_only
def test_an_example_has_the_type_of_what_was_described(value: Any) -> None:
    from numba import typeof

    assert typeof(kernel_cache.example(kernel_cache.describe(value))) == typeof(value)


def test_a_choice_that_is_none(place: Path) -> None:
    [said, *_] = finish(start("later", NUMBA_CACHE_DIR=place))[1]
    assert said == "wikilda: WIKILDA_COMPILE is 'later'; it can be now, background, never. It is taken as background."


def test_long_work_is_compiled_first_unless_the_user_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    if jit.DISABLED:
        pytest.skip("nothing is compiled")
    monkeypatch.setenv("WIKILDA_COMPILE", "background")
    chosen = jit.Tier()
    chosen.expect(1e6)
    assert chosen.policy == "background"
    monkeypatch.delenv("WIKILDA_COMPILE")
    unchosen = jit.Tier()
    unchosen.expect(1.0)
    assert unchosen.policy == "background"
    unchosen.expect(1e6)
    assert (unchosen.policy, os.environ["WIKILDA_COMPILE"]) == ("now", "now")


def test_the_size_of_files_is_what_is_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected: list[float] = []
    monkeypatch.setattr(jit.Tier, "expect", lambda _, seconds: expected.append(seconds))
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_bytes(bytes(1000))
    (tmp_path / "c.gz").write_bytes(bytes(100))
    jit.tier.expect_files([tmp_path / "a", tmp_path / "c.gz", tmp_path / "absent"], rate=100)
    assert expected == [14.0]


# --- Kernels of a wheel -----------------------------------------------------------------------------------------------


@compiled_only
def test_kernels_that_came_with_the_package_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is installed, whenever its files were written, with an empty cache that cannot be written to."""
    source, path = Path(jit.__file__).parents[1], os.environ.get("PYTHONPATH", "")
    for where in ("made", "installed"):
        shutil.copytree(source / "_core", tmp_path / where / "wikilda" / "_core")
        shutil.copy(source / "__init__.py", tmp_path / where / "wikilda")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'made'}{os.pathsep}{path}")
    compiler.compile_into(tmp_path / "installed" / "wikilda" / "_kernels", ["-c", PROGRAM])
    about = tmp_path / "installed" / "wikilda" / "_kernels" / kernel_cache.ABOUT
    for file in (tmp_path / "installed").rglob("*.py"):
        os.utime(file, (1, 1))
    (tmp_path / "file").write_text("")
    places = {
        "NUMBA_CACHE_DIR": tmp_path / "file", "PYTHONPATH": f"{tmp_path / 'installed'}{os.pathsep}{path}",
    }  # fmt: skip
    assert finish(start("now", **places)) == (COMPILED, [])
    assert finish(start("background", **places)) == (COMPILED, [])
    text = about.read_text("utf-8")
    about.write_text(text.replace('"features": [', '"features": ["no such thing", '))  # an older processor
    _, [said] = finish(start("background", **places))
    assert said.startswith("wikilda: kernels run interpreted")
    about.write_text(text.replace("cpython", "other"))  # another Python
    assert finish(start("never", **places)) == (INTERPRETED, [])
    about.write_text("{")
    assert finish(start("never", **places)) == (INTERPRETED, [])
