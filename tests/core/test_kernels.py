"""Rules of kernels, read off the source.

A part is never called from Python: it raises a TypeError. A bare part never returns arrays to a kernel
that counts references: that would free memory that is in use. Kernels have no default arguments: Numba compiles a
kernel for them that is another one than that for the same values given, and that cannot be asked for by types. Long records are made by keyword, since their
arrays look alike.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src/wikilda", "benchmarks", "tests")
PARTS, BARE = {"inner", "bare", "inlined", "emitted"}, {"bare", "inlined"}
KERNELS = PARTS | {"njit", "intrinsic"}
SCALARS = {"int", "float", "bool", "None", "Whole", "Real", "np.bool_"} | {
    f"np.{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)
}


class Kernel(NamedTuple):
    module: str
    name: str
    kind: str
    node: ast.FunctionDef


def module_of(file: Path) -> str:
    relative = file.relative_to(ROOT / "src" if file.is_relative_to(ROOT / "src") else ROOT)
    return ".".join(relative.with_suffix("").parts).removesuffix(".__init__")


FILES = {module_of(file): file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text("utf-8"))


def kind_of(node: ast.AST) -> str:
    """The decorator that makes a function a kernel; empty for plain Python."""
    for each in getattr(node, "decorator_list", []):
        named = each.func if isinstance(each, ast.Call) else each
        if isinstance(named, ast.Name) and named.id in KERNELS:
            return named.id
    return ""


def kernels(module: str, tree: ast.Module) -> Iterator[Kernel]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and (kind := kind_of(node)):
            yield Kernel(module, node.name, kind, node)


@cache
def own_parts(module: str) -> frozenset[str]:
    return frozenset(each.name for each in kernels(module, tree_of(module)) if each.kind in PARTS)


@cache
def imports(module: str) -> dict[str, tuple[str, str]]:
    """By its name here, the module and the name there of everything that comes from a module of ours."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom) and node.module in FILES
        for alias in node.names
    }


def comes_from(module: str, name: str, found: Callable[[str], frozenset[str]]) -> bool:
    """Whether a name of a module is one of those that are found in modules, its own or one that it imports."""
    seen = set()
    while name not in found(module):
        if (module, name) in seen or name not in imports(module):
            return False
        seen.add((module, name))
        module, name = imports(module)[name]
    return True


def calls_from_python(tree: ast.Module, parts: set[str]) -> list[str]:
    """Where plain Python code calls a part, or passes it on."""
    found: list[str] = []

    def visit(node: ast.AST, local: frozenset[str]) -> None:
        if kind_of(node):
            return
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            own = [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]
            local |= {each.arg for each in own}
            if isinstance(node, ast.FunctionDef):
                local |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in parts - local:
            found.append(f"line {node.lineno}: {node.id}")
        for child in ast.iter_child_nodes(node):
            visit(child, local)

    visit(tree, frozenset())
    return found


def scalar(annotation: ast.expr | None, records: set[str]) -> bool:
    """Whether a type holds no array: a scalar, a tuple of these, or a record that is made of them."""
    if annotation is None:
        return False
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "tuple":
        inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return all(scalar(each, records) or ast.unparse(each) == "..." for each in inside)
    return ast.unparse(annotation).strip("\"'") in SCALARS | records


@cache
def scalar_records() -> frozenset[str]:
    """The NamedTuples and the type aliases that hold no arrays."""
    found: set[str] = set()
    while True:
        before = len(found)
        for module in FILES:
            for node in tree_of(module).body:
                if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases):
                    fields = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
                    if all(scalar(each, found) for each in fields):
                        found.add(node.name)
                elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value and scalar(node.value, found):
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    if isinstance(target, ast.Name):
                        found.add(target.id)
        if len(found) == before:
            return frozenset(found)


def returned_arrays(kernel: ast.FunctionDef, records: set[str]) -> list[str]:
    """What a part returns that is or may be an array: by its annotation, then by the expressions themselves."""
    found = [] if scalar(kernel.returns, records) else [f"-> {ast.unparse(kernel.returns) if kernel.returns else '?'}"]
    arrays = {each.arg for each in kernel.args.args if "NDArray" in ast.unparse(each.annotation or ast.Constant(None))}
    arrays |= {
        target.id
        for node in ast.walk(kernel) if isinstance(node, ast.Assign) and makes_array(node.value)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(kernel):
        if isinstance(node, ast.Return) and node.value is not None:
            bad = [
                each
                for each in expressions(node.value)
                if makes_array(each) or (isinstance(each, ast.Name) and each.id in arrays)
            ]
            found += [f"line {each.lineno}: {ast.unparse(each)}" for each in bad]
    return found


def expressions(node: ast.expr) -> list[ast.expr]:
    """The parts of a tuple, and both sides of a conditional expression."""
    inside = (
        node.elts if isinstance(node, ast.Tuple) else [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
    )
    return [each for part in inside for each in expressions(part)] or [node]


def makes_array(node: ast.expr) -> bool:
    """An array by NumPy, a copy, or a slice of one."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).removeprefix("np.") in {"empty", "zeros", "ones", "full", "arange"} or (
            isinstance(node.func, ast.Attribute) and node.func.attr in {"copy", "astype", "reshape"}
        )
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


@pytest.mark.parametrize("module", FILES)
def test_parts_are_called_by_kernels_only(module: str) -> None:
    parts = {name for name in (*own_parts(module), *imports(module)) if comes_from(module, name, own_parts)}
    assert calls_from_python(tree_of(module), parts) == []


def callers(name: str, module: str) -> list[Kernel]:
    """The kernels that call a part of a module, under the name that it has there."""
    found = []
    for other in FILES:
        names = {here for here, (there, old) in imports(other).items() if (there, old) == (module, name)}
        names |= {name} if other == module else set()
        for kernel in kernels(other, tree_of(other)) if names else ():
            if any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(kernel.node)):
                found.append(kernel)
    return found


@pytest.mark.parametrize("module", [each for each in FILES if each.startswith(("wikilda", "benchmarks"))])
def test_bare_parts_return_arrays_to_bare_parts_only(module: str) -> None:
    """What a bare part gives to one that counts references would be freed once too often."""
    for kernel in kernels(module, tree_of(module)):
        if kernel.kind in BARE and (arrays := returned_arrays(kernel.node, set(scalar_records()))):
            counting = [f"{each.module}.{each.name}" for each in callers(kernel.name, module) if each.kind not in BARE]
            assert counting == [], f"{kernel.name} returns {arrays}"


@pytest.mark.parametrize("module", FILES)
def test_kernels_have_no_default_arguments(module: str) -> None:
    assert [each.name for each in kernels(module, tree_of(module)) if each.node.args.defaults] == []


def bare_characters(tree: ast.Module) -> list[str]:
    """Comparisons of a byte of text with a number that is a character, instead of its name."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = [
                each for each in sides if re.match(r"(source|text|out|piece)\[|\(?byte\b|\(?point\b", ast.unparse(each))
            ]
            codes = [each for each in sides if isinstance(each, ast.Constant) and each.value in range(9, 127)]
            if texts and codes:
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("module", [each for each in FILES if ".mediawiki.wikitext." in each])
def test_characters_of_wikitext_have_names(module: str) -> None:
    assert bare_characters(tree_of(module)) == []


LONGEST = 5  # fields of a record that may be made by position


@cache
def own_records(module: str) -> frozenset[str]:
    """The NamedTuples of a module."""
    classes = (node for node in tree_of(module).body if isinstance(node, ast.ClassDef))
    return frozenset(node.name for node in classes if "NamedTuple" in map(ast.unparse, node.bases))


def by_position(tree: ast.Module, names: set[str]) -> list[str]:
    """Where a long record is made by position."""
    return [
        f"line {node.lineno}: {node.func.id}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        if len(node.args) > LONGEST and not any(isinstance(each, ast.Starred) for each in node.args)
    ]  # fmt: skip


@pytest.mark.parametrize("module", [each for each in FILES if each.startswith("wikilda")])
def test_long_records_are_made_by_keyword(module: str) -> None:
    names = {name for name in (*own_records(module), *imports(module)) if comes_from(module, name, own_records)}
    assert by_position(tree_of(module), names) == []


def test_the_rules_see_what_they_forbid() -> None:
    tree = ast.parse(
        "@inner\ndef part(x): return x\n"
        "@njit\ndef kernel(x): return part(x)\n"
        "def plain(x): return part(x)\n"
        "def fine(part): return part(1)\n"
        "later = map(part, [1])\n"
    )
    assert calls_from_python(tree, {"part"}) == ["line 5: part", "line 7: part"]
    made = ast.parse("Row(1, 2, 3, 4, 5, 6)\nRow(1, 2, 3, 4, 5, e=6)\nRow(*rest)\nother(1, 2, 3, 4, 5, 6)")
    assert by_position(made, {"Row"}) == ["line 1: Row"]
    assert bare_characters(ast.parse("source[at] == 124\nbyte > 32\nstate[AT] == 40\nbyte == PIPE")) == [
        "line 1: source[at] == 124", "line 2: byte > 32",
    ]  # fmt: skip
    bad = ast.parse(
        "def a(x: NDArray[np.int64]) -> Whole:\n    y = x[1:]\n    return x if 0 else y\n"
        "def b(x: NDArray[np.int64]) -> NDArray[np.int64]:\n    return x\n"
        "def c(x: Whole) -> tuple[Whole, Rows]:\n    return x, np.zeros(3)\n"
        "def d(x: Whole) -> tuple[Whole, np.float64]:\n    return x, x\n"
    )
    a, b, c, d = (each for each in bad.body if isinstance(each, ast.FunctionDef))
    assert returned_arrays(b, set()) == ["-> NDArray[np.int64]", "line 5: x"]
    assert returned_arrays(c, set()) == ["-> tuple[Whole, Rows]", "line 7: np.zeros(3)"]
    assert returned_arrays(d, set()) == []
    assert returned_arrays(a, set()) == ["line 3: x", "line 3: y"]


def test_there_are_kernels_to_check() -> None:
    kinds = [each.kind for module in FILES if module.startswith("wikilda") for each in kernels(module, tree_of(module))]
    assert kinds.count("inner") > 50
    assert kinds.count("bare") > 50
    assert kinds.count("inlined") > 5
