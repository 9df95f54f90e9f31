"""Select the answers of one model, and group answers by the values of fields."""

from collections.abc import Iterable, Iterator

from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from harpia_formats.model.describe import first_of
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.problem import ConversionError, ConversionOptionsError
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import (
    ScoreError,
    ScoreOptionsError,
    full_name,
    is_of_metric,
)

#: Fields that answers can be grouped by, apart from `METADATA` and a name.
MODEL = "model"
EVALUATION = "evaluation_name"
GROUPED = ("category", "source", MODEL, EVALUATION)
#: The most groups of one run; each of them takes memory.
MOST = 1_000
#: The value of a field that an answer does not have.
NONE = "(none)"
#: The system of answers without a model where a model is called `NONE`.
NAMELESS = f"{NONE} (without a model)"
METADATA = "metadata."


class AnswerGrouping(Struct, frozen=True):
    """Assigns answers to groups; raises `ScoreError` for fields that are unknown."""

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.by:
            is_member = name.startswith(METADATA) and name != METADATA
            if name not in GROUPED and not is_member:
                hint = hint_on(name, (*GROUPED, f"{METADATA}NAME"))
                raise ScoreError(f"scores cannot be grouped by {name!r}{hint}")

    @property
    def within_system(self) -> tuple[str, ...]:
        """The fields but the model, by which the answers of one system are grouped."""
        return tuple(name for name in self.by if name != MODEL)

    def key_of(self, record: Record, output: Output) -> tuple[str, ...]:
        """Return the value of each field but the model as text."""
        return tuple(value_of(name, record, output) for name in self.within_system)

    def names_of(self, key: tuple[str, ...], *, is_split: bool) -> dict[str, str]:
        """Return the fields of a group: those of a key that begins with the system.

        The system is left out if the scores are not split by it.
        """
        system, *values = key
        found = dict(zip(self.within_system, values, strict=False))
        if not is_split:
            return found
        order = self.by if MODEL in self.by else (MODEL, *self.by)
        found[MODEL] = system
        return {name: found[name] for name in order if name in found}

    def check(self, groups: int) -> None:
        """Raise `ScoreError` if the number of groups is above `MOST`."""
        if groups > MOST:
            raise ScoreOptionsError(
                f"there are more than {MOST:,} groups by {', '.join(self.by)}"
            )


def value_of(name: str, record: Record, output: Output) -> str:
    """Return a field of an answer as text, `NONE` if it has none.

    The text `NONE` itself is in quotes, but as the name of a model.
    """
    text = text_of(name, record, output)
    if text is None:
        return NONE
    return encode(text).decode() if text == NONE and name != MODEL else text


def text_of(name: str, record: Record, output: Output) -> str | None:
    """Return a field of an answer as text, None if it has none."""
    value = _found(name, record, output)
    if value is UNSET or value is None:
        return None
    return value if isinstance(value, str) else encode(value).decode()


def score_in(record: Record, output: Output) -> Score:
    """Return the first score that the input has for an answer.

    A row with several answers may store their score with the first answer, so the
    other answers of the record are searched, too. Without a score an empty one is
    returned.
    """
    with_scores = (
        answer.scores for answer in (output, *record.outputs) if answer.scores
    )
    return next(with_scores, [Score()])[0]


def _found(name: str, record: Record, output: Output) -> object:
    if name == MODEL:
        return output.model
    if name == EVALUATION:
        return score_in(record, output).evaluation_name
    if name.startswith(METADATA):
        metadata = record.metadata or {}
        return metadata.get(name.removeprefix(METADATA), UNSET)
    found: object = getattr(record, name)
    return found


#: Models that an error message lists.
LISTED_MODELS = 5
#: Models that are remembered, so that memory does not grow with their number.
REMEMBERED_MODELS = 1_000


class UnknownModelError(ConversionError):
    """No answer is of the wanted model; the message lists those that there are."""

    def __init__(self, wanted: str, models: list[str], where: str) -> None:
        super().__init__(_missing_model(wanted, models, where))
        self._start = f"no answer{where} is of the model {wanted!r}"

    def without_values(self) -> ConversionError:
        """Return the error without the models, which are values of records."""
        return ConversionOptionsError(
            f"{self._start}; the models of the answers are shown only without "
            "`--redact`"
        )


class UnknownMetricError(ConversionError):
    """No score is of the wanted metric; the message lists those that there are."""

    def __init__(self, wanted: str, metrics: Iterable[str]) -> None:
        self._start = f"no score is of the metric {wanted!r}"
        there = first_of(list(map(repr, metrics)))
        super().__init__(f"{self._start} (there are: {there})")

    def without_values(self) -> ConversionError:
        """Return the error without the metrics, which are values of records."""
        return ConversionOptionsError(
            f"{self._start}; the metrics of the scores are shown only without "
            "`--redact`"
        )


class ModelSelection(Struct):
    """Selects the answers of the wanted model; all answers if `wanted` is None.

    It also remembers the metrics of scores if those of one `metric` are wanted.
    """

    wanted: str | None
    metric: str | None = None
    #: Whether a score is of the wanted metric.
    has_metric: bool = False
    #: The metrics of the scores so far, as far as they are remembered.
    metrics: dict[str, None] = field(default_factory=dict)
    #: Whether a record had an answer of the wanted model.
    found: bool = False
    #: The models of the answers so far, as far as they are remembered.
    seen: dict[str, None] = field(default_factory=dict)

    def observe(self, record: Record) -> None:
        """Remember the models and metrics of a record, where one is wanted."""
        if self.metric is not None and not self.has_metric:
            scores = [one for output in record.outputs for one in output.scores or ()]
            self.has_metric = any(is_of_metric(one, self.metric) for one in scores)
            self.add_metrics(filter(None, map(full_name, scores)))
        if self.wanted is None:
            return
        for model in _models_of(record):
            self.found = self.found or model == self.wanted
            if len(self.seen) < REMEMBERED_MODELS:
                self.seen[model] = None

    def add(self, models: Iterable[str], *, found: bool) -> None:
        """Remember the models that another process has, if one is wanted."""
        self.found = self.found or found
        for model in models:
            if len(self.seen) < REMEMBERED_MODELS:
                self.seen[model] = None

    def add_metrics(self, metrics: Iterable[str], *, found: bool = False) -> None:
        """Remember the metrics that a record or another process has."""
        self.has_metric = self.has_metric or found
        for metric in metrics:
            if len(self.metrics) < REMEMBERED_MODELS:
                self.metrics[metric] = None

    def select(self, record: Record) -> Record:
        """Return `record` with the answers of the wanted model only."""
        self.observe(record)
        if self.wanted is None:
            return record
        outputs = [output for output in record.outputs if output.model == self.wanted]
        return replace(record, outputs=outputs)

    def missing_in(self, record: Record) -> str:
        """Return a message if a record has no answer of the wanted model, else ""."""
        models = _models_of(record)
        if self.wanted is None or self.wanted in models:
            return ""
        return _missing_model(self.wanted, models, " of the record")

    def check(self, where: str = "") -> None:
        """Raise `UnknownModelError` unless some record had an answer of the model.

        `where` says in which data set, for the message. Raises `UnknownMetricError` if
        there are scores, and none is of the wanted metric.
        """
        if self.wanted is not None and not self.found:
            raise UnknownModelError(self.wanted, list(self.seen), where)
        if self.metric is not None and self.metrics and not self.has_metric:
            raise UnknownMetricError(self.metric, self.metrics)


def _models_of(record: Record) -> list[str]:
    named = (output.model for output in record.outputs if output.model is not UNSET)
    return list(dict.fromkeys(named))


def _missing_model(wanted: str, models: list[str], where: str) -> str:
    """Return a message that no answer is of `wanted`, with the models there are."""
    start = f"no answer{where} is of the model {wanted!r}"
    if not models:
        return f"{start}; none names its model"
    hint = hint_on(wanted, models, word="there are", most=LISTED_MODELS, shown=repr)
    return f"{start}{hint}"


def split_by_model(
    record: Record, outcomes: FieldOutcomes, wanted: str | None
) -> Iterator[tuple[str, Record]]:
    """Yield each model with a record of its answers; one model only if it is `wanted`.

    The name of the model is "" for answers without a model, and where there is no
    answer. `outcomes` gets what becomes of the answers.
    """
    models = dict.fromkeys(output.model or "" for output in record.outputs)
    if wanted is not None:
        if models.keys() - {wanted}:
            outcomes.dropped("outputs", "of another model")
        models = {wanted: None}
    if len(models) > 1:
        outcomes.split("outputs", "a file for each model")
    for model in models or {"": None}:
        outputs = [output for output in record.outputs if (output.model or "") == model]
        yield model, replace(record, outputs=outputs)
