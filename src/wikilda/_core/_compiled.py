"""Compiled kernels: the one module that imports Numba."""

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import numba
from llvmlite import binding  # type: ignore[import-untyped,unused-ignore]
from numba.core import caching, codegen, compiler, event, runtime  # type: ignore[import-untyped,unused-ignore]
from numba.core.registry import cpu_target  # type: ignore[import-untyped,unused-ignore]

from wikilda._core import kernel_cache
from wikilda._core.jit import Kernel, NotCompiledError, Part, say, tier

QUIET_SECONDS = 1.0  # of compiling, after which a process says so

_binding: Any = binding
_numba: Any = numba  # its types, where they are known at all, do not cover what is used here
_runtime: Any = runtime
_register: Any = event.register
_rebuild: Any = compiler.CompileResult._rebuild
_File: Any = caching.IndexDataCacheFile
_JITCodeLibrary: Any = codegen.JITCodeLibrary


def make_dispatcher(part: Part) -> Any:
    """The dispatcher of a part. That of a kernel has a cache, if its source is a file."""
    made = _numba.njit(**part.options)(part.function)
    if isinstance(part, Kernel):
        made._cache = _Cache(part.function)
    return made


def type_of_intrinsic(intrinsic: Any) -> Any:
    """Numba's type of an intrinsic."""
    context: Any = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(intrinsic)


def processor() -> list[str]:
    """The processor that kernels are compiled for."""
    made: Any = cpu_target.target_context.codegen()
    return list(made.magic_tuple())


def compile_for(kernel: Kernel, arguments: tuple[Any, ...]) -> None:
    """Compile a kernel for the types of some arguments, or load it, without calling it."""
    kernel.dispatcher._compile_for_args(*arguments)


class _Cache(caching._Cache):  # type: ignore[misc,name-defined,unused-ignore]
    """Compiled kernels on disk: in the user's cache, and in the package.

    Before looking for a kernel on disk, Numba imports its implementation of NumPy, and SciPy if that is installed:
    half a second that only a compilation needs. Loaded kernels need only the runtime.
    """

    def __init__(self, function: Any) -> None:
        self._places: list[tuple[Any, Any]] = [
            (each.key, _File(str(each.directory), each.base, each.stamp))
            for each in kernel_cache.places(function)
            if all(_features().get(name) for name in each.features)
        ]
        self._missing: dict[Any, int] = {}

    @property
    def cache_path(self) -> str:
        """Where new kernels are kept."""
        return str(self._places[0][1]._cache_path) if self._places else ""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled kernel, or None if it must be compiled."""
        compiles = tier.compiles()
        if not compiles and self._missing.get(sig) == tier.generation:
            raise NotCompiledError
        _runtime.rtsys.initialize(target_context)
        own = target_context.codegen().magic_tuple()
        for key, file in self._places:
            try:
                data = file.load((sig, key or own))
                if data is not None:
                    with _compilations.interrupted():
                        return _rebuild(target_context, *data)
            except Exception:  # of a version whose modules had other names, cut short, or no index at all
                with contextlib.suppress(OSError):
                    file.flush()  # Numba reads the index again before it adds to it
        if compiles:
            return None
        self._missing[sig] = tier.generation
        raise NotCompiledError

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel. A full disk or a read-only directory is not an error."""
        if not self._places or data.library.has_dynamic_globals or not kernel_cache.is_writable():
            return
        file = self._places[0][1]
        try:
            kernel_cache.make_directory(file._cache_path)
            file.save((sig, data.codegen.magic_tuple()), data._reduce())
            kernel_cache.announce(tier.announce_every)
        except OSError as error:
            say(f"compiled kernels cannot be kept ({error.strerror}). {kernel_cache.REMEDY}")

    def enable(self) -> None:
        """Numba's interface; it is always enabled."""

    def disable(self) -> None:
        """Numba's interface; it is always enabled."""

    def flush(self) -> None:
        """Forget what is compiled."""
        for _, file in self._places[:1]:
            file.flush()


@cache
def _features() -> Mapping[str, bool]:
    """Return the features of this machine's processor."""
    found: Mapping[str, bool] = _binding.get_host_cpu_features()
    return found


class _Compilations(event.Listener):  # type: ignore[misc,unused-ignore]
    """Knows what is compiled at the moment, and says once that a process waits for it."""

    def __init__(self) -> None:
        self.running: list[Any] = []  # dispatchers: a kernel, and the parts that it needs; Numba compiles one at a time
        self._collects = False
        self._spent, self._began = 0.0, 0.0

    @property
    def parts_only(self) -> bool:
        """Whether what is compiled is only called by a kernel that is compiled, too."""
        kernels = [isinstance(getattr(each, "_cache", None), _Cache) for each in self.running]
        return len(kernels) > 1 and kernels[0] and not kernels[-1]

    @contextlib.contextmanager
    def interrupted(self) -> Iterator[None]:
        """Load a kernel while a part that calls it is compiled: the kernel is not such a part."""
        running, self.running = self.running, []
        try:
            yield
        finally:
            self.running = running

    def on_start(self, event: Any) -> None:
        if not self.running:
            self._began = time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()  # the compiler makes millions of objects, nearly all of which stay
        self.running.append(event.data["dispatcher"])
        if kernel_cache.is_writable():
            if self._spent + time.monotonic() - self._began >= QUIET_SECONDS:
                say("compiling kernels: once after installation (`wikilda compile --list COMMAND` names them)")
        else:
            say(f"compiling kernels: every process does, for there is no place to keep them. {kernel_cache.REMEDY}")

    def on_end(self, event: object) -> None:
        self.running.pop()
        if not self.running:
            self._spent += time.monotonic() - self._began
            if self._collects:
                gc.enable()


class _Library(_JITCodeLibrary):  # type: ignore[misc]
    """Code of a function. That of a part of a kernel is optimised and translated with the kernel only.

    Numba optimises and translates each part on its own, with all parts that it calls, before it does the same with the
    kernel: more than half of the time of the compiler, for code that nothing calls.

    The code of a kernel from the cache comes with its bitcode, for kernels that call it. It is read when one of these
    is compiled: reading it takes longer than loading the kernel.
    """

    _is_part = False
    _bitcode: bytes | None = None  # not read yet

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        self = codegen.create_library(name)
        compiled, self._bitcode = data
        self.enable_object_caching()
        self._set_compiled_object(compiled)
        self._finalize_final_module()
        return self

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None:
            self._shared_module, self._bitcode = _binding.parse_bitcode(self._bitcode), None
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return super()._get_module_for_linking()

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        if not _compilations.parts_only:
            super()._optimize_functions(module)

    def finalize(self) -> None:
        self._is_part = _compilations.parts_only
        if not self._is_part:
            super().finalize()
            return
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if self._bitcode is not None:  # a kernel of the cache has a wrapper for Python, the one function asked for
            return int(self._codegen._engine.get_function_address(name))
        return 0 if self._is_part else int(super().get_pointer_to_function(name))


def _set_environment(set_env: Callable[[str, Any], None], name: str, environment: Any) -> None:
    """Tell a function its environment; a part has no address of its own."""
    if not _compilations.parts_only:
        set_env(name, environment)


_compilations = _Compilations()
_register("numba:compile", _compilations)
_target: Any = cpu_target.target_context.codegen()
_target._library_class, _target.set_env = _Library, partial(_set_environment, _target.set_env)
