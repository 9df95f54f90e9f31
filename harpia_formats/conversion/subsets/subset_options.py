"""The options of the commands that copy rows, their error, and what a run wrote."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar

from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import HarpiaFormatsError, OptionError
from harpia_formats.model.result import Result


class SubsetError(HarpiaFormatsError):
    """Rows cannot be copied as the options ask; its text is the message."""

    hides_values = True


class SubsetValueError(SubsetError):
    """Rows cannot be copied because of what is in them, which the message shows."""

    hides_values = False


@dataclass(frozen=True, slots=True)
class SubsetOptions:
    """How the rows of a file are read, and how their copies are written.

    Raises `OptionError` for values that no file can meet.
    """

    #: The format of the input; None to recognise it.
    from_: str | None = None
    delimiter: str | None = None
    max_row_bytes: int = ROW_LIMIT
    overwrite: bool = False
    #: Whether messages show no values of records.
    redact: bool = False
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            delimiter_named(self.delimiter)
        if self.max_row_bytes < 1:
            raise OptionError(f"max_row_bytes is {self.max_row_bytes}, and not above 0")


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """One output of a run."""

    #: The name of the part: a value, `valid` or `train`; empty if there is one output.
    value: str
    path: str
    rows: int


@dataclass(frozen=True, slots=True, repr=False)
class Subset(Result):
    """Which rows of the inputs were copied to which outputs."""

    columns: ClassVar = ("value", "path", "rows", "share")

    #: Rows of the inputs, as far as they were read.
    rows: int
    parts: tuple[WrittenPart, ...]
    #: Whether there were as many rows as were asked for.
    ok: bool = True
    #: What the user should know of the outputs.
    notes: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """How many rows were written."""
        return sum(part.rows for part in self.parts)

    def headline(self) -> str:
        """Return the counts in one line."""
        files = with_noun(len(self.parts), "file")
        return f"{self.written:,} of {with_noun(self.rows, 'row')} in {files}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each output, with its share of the rows that were read."""
        return [
            {
                "value": part.value,
                "path": part.path,
                "rows": part.rows,
                "share": part.rows / self.rows if self.rows else 0.0,
            }
            for part in self.parts
        ]


#: Stands for the name of the part in the name of an output.
VALUE = "{value}"
#: How far the sum of shares may be from 1, as that of three times 0.333 is.
_TOLERANCE = 0.002


@dataclass(frozen=True, slots=True)
class Division:
    """How the rows of a file are divided: one of `by`, `ratio` and `valid`, `invalid`.

    Raises `OptionError` for options that contradict each other.
    """

    #: The field whose values name the parts.
    by: str | None = None
    #: The share of each part by its name, or a list of shares.
    ratio: Mapping[str, float] | Sequence[float] | str | None = None
    #: The field that rows must share to be on one side; the prompt if None.
    key: str | None = None
    seed: int | str = 0
    #: Where valid rows go, and all others.
    valid: PathLike[str] | str | None = None
    invalid: PathLike[str] | str | None = None
    #: Where the findings go.
    findings: PathLike[str] | str | None = None
    #: By what rows are valid, as for a validation.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    lint: bool = False
    schema: dict[str, Any] | bool | PathLike[str] | str | None = None
    jobs: int = 1
    #: The shares by the names of their parts.
    shares: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        chosen = [self.by, self.ratio, self.valid or self.invalid]
        if sum(one is not None for one in chosen) != 1:
            raise OptionError("choose one of: valid and invalid, by, ratio")
        own = [
            self.findings,
            self.lint or None,
            *self.select,
            *self.ignore,
            self.schema,
        ]
        if not self.by_verdict and any(one is not None for one in own):
            raise OptionError(
                "findings, select, ignore, lint and schema are for valid and invalid"
            )
        if self.ratio is None and self.key is not None:
            raise OptionError("key is for ratio")
        object.__setattr__(self, "shares", _shares(self.ratio))

    @property
    def by_verdict(self) -> bool:
        """Whether valid rows are parted from invalid ones."""
        return self.by is None and self.ratio is None


def _shares(
    ratio: Mapping[str, float] | Sequence[float] | str | None,
) -> dict[str, float]:
    """Return shares by names, with 1 as their sum; raises `OptionError`."""
    if ratio is None:
        return {}
    if isinstance(ratio, str):
        ratio = parsed_ratio(ratio)
    if not isinstance(ratio, Mapping):
        ratio = {str(number): share for number, share in enumerate(ratio, 1)}
    total = sum(ratio.values())
    are_above_0 = all(share > 0 for share in ratio.values())  # which NaN is not
    if len(ratio) < 2 or not are_above_0:  # noqa: PLR2004 - two sides
        raise OptionError("a ratio has two or more shares, each above 0")
    if abs(total - 1) > _TOLERANCE:
        raise OptionError(f"the shares of a ratio sum to 1, and not to {total:g}")
    return {name: share / total for name, share in ratio.items()}


def parsed_ratio(text: str) -> dict[str, float]:
    """Return the shares in text such as `0.8/0.2` or `train=0.8,test=0.2`.

    Raises `OptionError`.
    """
    form = f"`--ratio {text}`: write it as 0.8/0.2 or train=0.8,test=0.2"
    parts = [part.partition("=") for part in text.replace("/", ",").split(",")]
    named = [(name.strip(), share) for name, equals, share in parts if equals]
    if not named:
        named = [(str(n), share) for n, (share, _, _) in enumerate(parts, 1)]
    if len(named) < len(parts) or not all(name for name, _ in named):
        raise OptionError(form)
    if len({name for name, _ in named}) < len(named):
        raise OptionError(f"`--ratio {text}`: two parts have one name")
    try:
        return {name: float(share) for name, share in named}
    except ValueError:
        raise OptionError(form) from None
