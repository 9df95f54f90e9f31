"""The labels that the definition of a judge declares for a value of its verdicts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.definition import definition_of
from harpia_formats.evaluation.llm_judge.definition.definition_file import (
    arguments_from,
)
from harpia_formats.evaluation.llm_judge.errors import DefinitionError

#: More integers are numbers without classes.
_MOST = 100


def declared_labels(path: Path, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the labels of the first output in a definition with one of `names`.

    They are its choices, or the integers of its range, in their order. Raises
    `DefinitionError` if there is no such output, or it declares no labels.
    """
    outputs = {one.name: one for one in definition_of(arguments_from(path)).outputs}
    found = next((outputs[name] for name in names if name in outputs), None)
    if found is None:
        raise DefinitionError(
            f"{path}: no output is called {' or '.join(names)} (there are: "
            f"{', '.join(outputs)})"
        )
    if found.choices:
        return found.choices
    low, high = found.minimum, found.maximum
    if found.kind == "boolean":
        return (False, True)
    if found.kind == "integer" and isinstance(low, int) and isinstance(high, int):
        if high - low < _MOST:
            return tuple(range(low, high + 1))
        raise DefinitionError(f"{path}: {found.name} has more than {_MOST} values")
    raise DefinitionError(
        f"{path}: {found.name} declares neither choices nor integers from a minimum to "
        "a maximum"
    )
