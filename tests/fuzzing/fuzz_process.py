"""Fuzz one target in this process, guided by coverage: what `run.py` starts.

Atheris measures the coverage of Python code. It ends the process where native code
crashes, hangs or takes too much memory; whatever else is wrong with an input is noted,
and the search goes on.
"""

import argparse
import shlex
import sys
import time
import traceback
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import atheris

#: Our packages.
_PACKAGES = ["harpia_converters", "harpia_formats"]
#: Seconds of processor time for one input: on a busy machine an input takes long that
#: costs little. What never ends is left to the fuzzer, by a longer limit of wall time.
SECONDS_OF_INPUT = 1.0
#: Different findings after which the search ends.
MOST_FINDINGS = 20


class Findings:
    """The inputs that broke a property, one for each place in the code."""

    def __init__(self, folder: Path, check: Callable[[bytes], None]) -> None:
        self._folder = folder
        self._check = check
        self._places: set[str] = set()

    def check(self, data: bytes) -> None:
        """Check an input, and save it if it breaks a property in a new place."""
        began = time.process_time()
        try:
            self._check(data)
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            self._note(data, error)
            return
        if time.process_time() - began > SECONDS_OF_INPUT and self._is_slow(data):
            self._note(data, TimeoutError(f"over {SECONDS_OF_INPUT:g} s"))

    def _is_slow(self, data: bytes) -> bool:
        """Return whether an input is slow a second time, with all caches filled."""
        began = time.process_time()
        self._check(data)
        return time.process_time() - began > SECONDS_OF_INPUT

    def _note(self, data: bytes, error: Exception) -> None:
        """Save an input with its error, unless there is one of the same place."""
        place = _place_of(error)
        if place in self._places:
            return
        self._places.add(place)
        kind = "slow" if isinstance(error, TimeoutError) else "broken"
        path = self._folder / f"{kind}-{sha256(data).hexdigest()[:16]}"
        path.write_bytes(data)
        shown = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(shown, "utf-8", "backslashreplace")
        if len(self._places) == MOST_FINDINGS:
            raise RuntimeError("enough was found")


def _place_of(error: Exception) -> str:
    """Return the type of an error and the line of code where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    line = f"{frame[0].filename}:{frame[0].lineno}" if frame else ""
    return f"{type(error).__name__} {line}"


def main() -> None:
    """Fuzz the target that the command line names until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("code", help="packages whose code is instrumented: a,b")
    parser.add_argument("folder", type=Path, help="where findings are saved")
    parser.add_argument("fuzzer", nargs="*", help="arguments of the fuzzer")
    chosen = parser.parse_args()
    code = tuple(chosen.code.split(","))
    with atheris.instrument_imports(include=_PACKAGES, exclude=_modules_but(code)):
        from fuzz_targets import TARGETS, inputs_of  # noqa: PLC0415 - instrumented

        target = TARGETS[chosen.target]
        findings = Findings(chosen.folder, target.check)
        # Many modules are imported with the first input that needs them.
        for data in inputs_of(target):
            findings.check(data)
    options = {}
    if target.mutate is not None:
        options["custom_mutator"] = _mutator(target.mutate)
    # The fuzzer starts itself again, by a shell, to merge inputs.
    itself = shlex.join([sys.executable, *sys.argv[: sys.argv.index("--") + 1]])
    atheris.Setup([itself, *chosen.fuzzer], findings.check, **options)
    atheris.Fuzz()


def _modules_but(code: tuple[str, ...]) -> list[str]:
    """Return the names of our modules that are not in the packages `code`.

    The fuzzer takes packages of the top only, and single modules that it is to skip.
    """
    found = []
    for package in _PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        (folder,) = map(Path, spec.submodule_search_locations or ())
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            if not any(f"{name}.".startswith(f"{one}.") for one in code):
                found.append(name)
    return found


def _mutator(
    mutate: Callable[[bytes, int], bytes],
) -> Callable[[bytes, int, int], bytes]:
    """Return what changes an input by its syntax, or any bytes of it, by turns."""

    def changed(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2:
            made = mutate(data, seed)
            if made != data and len(made) <= most:
                return made
        made_by_bytes: bytes = atheris.Mutate(data, most)
        return made_by_bytes

    return changed


if __name__ == "__main__":
    main()
