"""The options of the Python functions, as type checkers see them.

Their fields are those of the dataclasses that hold the options of a run, which a test
compares. They describe keyword arguments and hold nothing: the dataclasses do.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any, BinaryIO, Literal, Protocol, TypedDict

from harpia_formats.conversion.mapping.choices import (
    Prompt,
    ReferenceFrom,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.options import ContainerKind, Ids, OnInvalid, OnLoss
from harpia_formats.evaluation.scoring.options import Missing
from harpia_formats.files.io.source import ReadProgress, Source

Path = PathLike[str] | str


class Readable(Protocol):
    """An open binary file, or what is read like one."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, all that are left if it is negative."""


class ArrowTable(Protocol):
    """A table in memory: of pyarrow, pandas, polars, and other packages."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return its columns, as the PyCapsule interface of Arrow describes."""


#: What the functions read: a path, folder, pattern or URL, bytes, an open binary file,
#: one object of JSON, a list of such objects, or a table in memory.
Input = (
    Path
    | bytes
    | Readable
    | Source
    | Mapping[str, Any]
    | Sequence[Mapping[str, Any]]
    | ArrowTable
)
#: Where the functions write: a path or URL, an open binary file, or None for standard
#: output.
Output = Path | BinaryIO | None
Progress = Callable[[ReadProgress], None]


class WorkerArguments(TypedDict, total=False):
    """Who does the work of a run."""

    jobs: int
    executor: Executor | None
    engine: str | None
    cluster_timeout: float
    progress: Progress | None


class ReferenceArguments(TypedDict, total=False):
    """Where references come from."""

    reference_from: ReferenceFrom | Literal["references", "gt"]


class ReadArguments(TypedDict, total=False):
    """The options of `read`."""

    columns: Mapping[str, str] | None
    map: Mapping[str, str] | None  # another name for `columns`
    delimiter: str | None
    from_csv_safe: bool
    exclude: Sequence[str]
    skip_unrecognised: bool
    min_records: int
    companion: Path | None
    max_row_bytes: int
    redact: bool


class ValidateArguments(ReadArguments, WorkerArguments, total=False):
    """The options of `validate` and `iter_problems`."""

    allow_no_files: bool
    format: str | None
    from_: str | None  # another name for `format`
    schema: dict[str, Any] | bool | Path | None
    select: Sequence[str]
    ignore: Sequence[str]
    lint: bool
    severity: Mapping[str, str]
    strict: bool
    examples: int
    max_problems: int
    baseline: Path | None
    write_baseline: Path | None
    row_lengths: bool
    fail_fast: bool
    limit: int | None
    assert_formats: bool
    cross_check: bool
    row_timeout: float


class PreflightArguments(WorkerArguments, total=False):
    """The options of `preflight`."""

    variables: Mapping[str, str]
    examples: int
    max_problems: int
    redact: bool


class SchemaCheckArguments(TypedDict, total=False):
    """The options of `check_schema`."""

    select: Sequence[str]
    ignore: Sequence[str]
    lint: bool
    examples: int
    max_problems: int
    exclude: Sequence[str]


class InferArguments(TypedDict, total=False):
    """The options of `infer_schema`."""

    enum_limit: int
    map_keys: int
    closed: bool
    redact: bool
    delimiter: str | None
    limit: int | None
    exclude: Sequence[str]
    max_row_bytes: int
    progress: Progress | None


class DiffArguments(TypedDict, total=False):
    """The options of `diff`."""

    columns: Mapping[str, str] | None
    map: Mapping[str, str] | None  # another name for `columns`
    delimiter: str | None
    from_csv_safe: bool
    exclude: Sequence[str]
    max_row_bytes: int
    redact: bool
    from_: str | None
    format: str | None  # another name for `from_`
    model: str | None
    on_invalid: OnInvalid | Literal["fail", "skip"]
    progress: Progress | None


class RoundtripArguments(DiffArguments, total=False):
    """The options of `roundtrip`."""

    references: References | Literal["first", "expand", "fail"]
    responses: Responses | Literal["expand", "first", "list", "fail"] | None
    turns: Turns | Literal["last", "transcript", "fail"]
    prompt: Prompt | Literal["question", "formatted"]
    filter: str | None
    constants: Mapping[str, Any]
    score: Literal["em", "f1"] | None
    metric: str | None
    correct_from: float | None
    keep_extra: bool


class WriteArguments(ReadArguments, ReferenceArguments, WorkerArguments, total=False):
    """The options of `write`."""

    references: References | Literal["first", "expand", "fail"]
    responses: Responses | Literal["expand", "first", "list", "fail"] | None
    turns: Turns | Literal["last", "transcript", "fail"]
    prompt: Prompt | Literal["question", "formatted"]
    model: str | None
    filter: str | None
    group: str | None
    csv_safe: bool
    container: ContainerKind | Literal["array", "lines"] | None
    constants: Mapping[str, Any]
    score: Literal["em", "f1"] | None
    metric: str | None
    correct_from: float | None
    on_loss: OnLoss | Literal["report", "fail", "ignore"]
    on_invalid: OnInvalid | Literal["fail", "skip", "quarantine"]
    keep_extra: bool
    ids: Ids | Literal["keep", "number", "hash"]
    prefix_ids: bool
    overwrite: bool
    quarantine: Path | None
    loss_report: Path | None


class ConvertArguments(WriteArguments, total=False):
    """The options of `convert`."""

    from_: str | None
    format: str | None  # another name for `from_`


class StatsArguments(ReadArguments, WorkerArguments, total=False):
    """The options of `stats`."""

    from_: str | None
    format: str | None  # another name for `from_`
    top: int
    limit: int | None
    on_invalid: Literal["fail", "skip"]


class IntervalArguments(TypedDict, total=False):
    """How intervals and p-values are found."""

    level: float
    replicates: int
    seed: int


class AgreementArguments(ReadArguments, IntervalArguments, total=False):
    """The options of `score_agreement`."""

    from_: str | None
    format: str | None  # another name for `from_`
    on_invalid: Literal["fail", "skip"]
    progress: Progress | None


class ComparisonArguments(
    ReadArguments, ReferenceArguments, WorkerArguments, IntervalArguments, total=False
):
    """The options of `compare_scores`."""

    from_: str | None
    format: str | None  # another name for `from_`
    metrics: Sequence[str]
    stored: bool
    profile: str | None
    config: Path | Mapping[str, Any] | None
    parameters: Mapping[str, Any]
    systems: Mapping[str, str]
    pool: bool
    skip_unknown: bool
    on_invalid: Literal["fail", "skip"]
    missing: Missing | Literal["skip", "zero"] | None
    model: str | None


class ScoreArguments(ComparisonArguments, total=False):
    """The options of `score`."""

    by: Sequence[str]
    csv_safe: bool
    constants: Mapping[str, Any]
    names: Mapping[str, str]
    overwrite: bool


class SubsetArguments(TypedDict, total=False):
    """The options of `head`, `sample` and `merge`."""

    from_: str | None
    format: str | None  # another name for `from_`
    delimiter: str | None
    max_row_bytes: int
    overwrite: bool
    redact: bool
    progress: Progress | None


class SplitArguments(SubsetArguments, total=False):
    """The options of `split`."""

    by: str | None
    ratio: Mapping[str, float] | Sequence[float] | None
    key: str | None
    seed: int | str
    valid: Path | None
    invalid: Path | None
    findings: Path | None
    select: Sequence[str]
    ignore: Sequence[str]
    lint: bool
    schema: dict[str, Any] | bool | Path | None
    jobs: int
