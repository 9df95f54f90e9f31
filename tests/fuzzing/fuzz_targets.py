"""The table of all fuzz targets, and how an input is replayed without a fuzzer."""

from collections.abc import Callable, Iterator

from container_targets import CONTAINER_TARGETS
from format_targets import FORMAT_TARGETS
from fuzz_target import Target, stored_inputs
from harpia_formats.files.workers.killable import CallTimedOut, KillableProcess
from settings_targets import SETTINGS_TARGETS
from text_targets import TEXT_TARGETS

TARGETS = {
    target.name: target
    for target in (
        *TEXT_TARGETS,
        *CONTAINER_TARGETS,
        *SETTINGS_TARGETS,
        *FORMAT_TARGETS,
    )
}
#: Seconds that an isolated process may take for some inputs.
_PATIENCE = 60


def inputs_of(target: Target) -> list[bytes]:
    """Return all inputs with which the search of a target begins, each once."""
    return list(dict.fromkeys((*stored_inputs(target.name), *target.seeds())))


def replay(target: Target, inputs: list[bytes]) -> None:
    """Check a target with each of `inputs`; raises what a broken property raises.

    In a process of its own, a crash raises `ProcessDied` and a refusal does not.
    """
    if not target.is_isolated:
        for data in inputs:
            target.check(data)
        return
    process = KillableProcess()
    try:
        done = process.call(_checked, target.check, inputs, timeout=_PATIENCE)
        for number, error in enumerate(done):
            assert not error, f"{inputs[number]!r}: {error}"
    except CallTimedOut as error:
        raise TimeoutError(f"{target.name} hangs") from error
    finally:
        process.close()


def _checked(check: Callable[[bytes], None], inputs: list[bytes]) -> Iterator[str]:
    """Yield for each input why a target's `check` fails for it, "" if it holds.

    A crash of native code ends the process that this runs in.
    """
    for data in inputs:
        try:
            check(data)
        except Exception as error:  # noqa: BLE001 - handed to the owner of the process
            yield f"{type(error).__name__}: {error}"
        else:
            yield ""
