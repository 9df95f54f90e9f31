"""Compile expressions and functions that are made of names that we chose."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


def compiled(text: str, /, **names: Any) -> Any:
    """Return the value of an expression, in which `names` stand for values."""
    # There is nothing of a file in it but quoted keys.
    return eval(text, names)  # noqa: S307 - see above


@dataclass(slots=True)
class Function:
    """The lines of a function, which is compiled once they are all there."""

    #: Its parameters, set apart by commas.
    parameters: str
    _lines: list[str] = field(default_factory=list)
    _depth: int = 1

    def add(self, line: str) -> None:
        """Write a line where the function is."""
        self._lines.append(" " * self._depth + line)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """Write what comes below `head`; without that, `head` is not there either."""
        before = len(self._lines)
        self.add(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1
        if len(self._lines) == before + 1:
            self._lines.pop()

    def compiled(self, **names: Any) -> Any:
        """Return the function, in which `names` stand for values."""
        text = "\n".join([f"def made({self.parameters}):", *self._lines])
        exec(text, names)  # noqa: S102 - as in `compiled`
        return names["made"]
