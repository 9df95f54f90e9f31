"""Compile expressions and functions from source text that this project writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


def compile_expression(text: str, /, **names: Any) -> Any:
    """Return the value of a Python expression, in which `names` stand for values."""
    # The text holds nothing of a file but quoted keys.
    return eval(text, names)  # noqa: S307 - the text is ours


@dataclass(slots=True)
class FunctionBuilder:
    """Collects the lines of a Python function, and compiles them."""

    #: Its parameters, separated by commas.
    parameters: str
    _lines: list[str] = field(default_factory=list)
    _depth: int = 1

    def add(self, line: str) -> None:
        """Add a line at the current indentation."""
        self._lines.append(" " * self._depth + line)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """Indent the lines added within `with`; without any, `head` is left out."""
        before = len(self._lines)
        self.add(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1
        if len(self._lines) == before + 1:
            self._lines.pop()

    def compile(self, **names: Any) -> Any:
        """Return the function, in which `names` stand for values."""
        text = "\n".join([f"def function({self.parameters}):", *self._lines])
        exec(text, names)  # noqa: S102 - the text is ours
        return names["function"]
