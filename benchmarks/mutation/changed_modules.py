"""Load modules of this checkout with a mutant, or so that they note what runs.

Every process that runs tests or is started by one calls `install`. What is changed is
read of its environment.
"""

import ast
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from mutation.blocks import NOTE, blocks_of, noting
from mutation.mutators import mutated

#: The path of a module, a colon and the number of its mutant.
MUTANT = "HARPIA_MUTANT"
#: The paths of modules that note what runs, and the folder of the notes.
NOTING, NOTES = "HARPIA_NOTING", "HARPIA_NOTES"
#: The number of the test that runs.
TEST = "HARPIA_TEST"
_PACKAGES = ("harpia_formats.", "harpia_converters.")


class _Finder(MetaPathFinder):
    """Finds our modules as usual, and gives the changed ones another loader."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return where a module is, None for modules that are not changed."""
        if not fullname.startswith(_PACKAGES):
            return None
        mutant, _, number = os.environ.get(MUTANT, "").rpartition(":")
        noted = os.environ.get(NOTING, "").split(os.pathsep)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin not in {mutant, *noted}:
            return None
        if spec.origin == mutant:
            spec.loader = _MutantLoader(fullname, spec.origin, int(number))
        else:
            spec.loader = _NotingLoader(fullname, spec.origin)
        return spec


class _MutantLoader(SourceFileLoader):
    """Loads a module with one of its mutants."""

    def __init__(self, fullname: str, path: str, number: int) -> None:
        super().__init__(fullname, path)
        self._number = number

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module."""
        return mutant_code(self.get_filename(fullname), self._number)


class _NotingLoader(SourceFileLoader):
    """Loads a module that notes each block that runs, once for each test."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module."""
        path = self.get_filename(fullname)
        tree = noting(ast.parse(Path(path).read_text("utf-8")))
        return _compiled(tree, path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, which calls a function of ours."""
        path = self.get_filename(module.__name__)
        names, _ = blocks_of(ast.parse(Path(path).read_text("utf-8")))
        setattr(module, NOTE, _note_of(path, names))
        super().exec_module(module)


def mutant_code(path: str, number: int) -> CodeType:
    """Return the code of a module with one of its mutants."""
    return _compiled(mutated(Path(path).read_text("utf-8"), number), path)


def _compiled(tree: ast.Module, path: str) -> CodeType:
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def _note_of(path: str, names: Sequence[str]) -> Callable[[int], None]:
    """Return the function that notes the blocks of a module."""
    seen: set[int] = set()
    os.register_at_fork(after_in_child=seen.clear)
    notes = os.environ[NOTES]

    def note(number: int) -> None:
        if number in seen:
            return
        seen.add(number)
        line = f"{path}\t{names[number]}\n"
        test = os.environ.get(TEST, "")
        with open(f"{notes}/{test or 'loaded'}", "a", encoding="utf-8") as file:  # noqa: PTH123 - tests replace what Path has
            file.write(line)

    return note


def install() -> None:
    """Have modules loaded by what the environment says."""
    sys.meta_path.insert(0, _Finder())
