"""Check the texts of samples, in rows of any format (V301-V315)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.column_checks import (
    TypedColumns,
    are_scored,
    of_table,
    of_typed,
    typed_columns,
)
from harpia_formats.formats.rules.damaged_values import no_value_lint
from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.formats.rules.request_faults import (
    api_error,
    fault_remarks,
    loop_remarks,
    may_be_error,
    may_hold_placeholder,
    may_hold_reasoning,
    may_hold_stack_trace,
    may_loop,
)
from harpia_formats.formats.rules.row_texts import (
    BY_CHANCE,
    PlacedText,
    SamplePaths,
    SampleTexts,
    TypedTexts,
    sample_paths,
    typed_texts,
)
from harpia_formats.formats.rules.sample_faults import (
    has_repeated,
    is_leaked,
    is_null_word,
    may_leak,
    value_remarks,
)
from harpia_formats.formats.rules.sample_rules import (
    API_ERROR,
    EMPTY_ANSWER,
    EMPTY_QUESTION,
    EMPTY_REFERENCE,
    LEAK,
    LOOP,
    NULL_ANSWER,
    PLACEHOLDER,
    REASONING,
    REPEATED_CHOICE,
    REPEATED_PROMPT,
    SCORED_EMPTY,
    STACK_TRACE,
    TEMPLATE_MARK,
    TRUNCATED,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.column import as_column
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import CaseDecision, RowLint, TextColumns
from harpia_formats.model.problem import Path

#: Marks of chat templates.
_mark = lazy_pattern(
    r"<\|(?:im_start|im_end|endoftext|end_of_text|begin_of_text|eot_id|eom_id|end|"
    r"start_header_id|end_header_id|assistant|user|system)\|>|\[/?INST\]|"
    r"<(?:start|end)_of_turn>|</s>\s*\Z"
)
#: Keys that say why an answer ends, and values that say that it was cut.
_reasons = frozenset(
    "finish_reason stop_reason finishReason stopReason done_reason "
    "native_finish_reason".split()
)
_cut = frozenset(
    "length max_tokens max_length max_output_tokens model_length token_limit "
    "model_context_window_exceeded".split()
)
#: How a key of a reason ends in JSON, and what follows where the answer was cut.
_reason_end = b'eason"'
_cut_text = lazy_pattern(rb'\s*:\s*"(?:length|max_|model_|token_)', re.IGNORECASE)
_LEAKED = "leaked"
#: Records of a file that say whether prompts are meant to hold the reference.
_SEVERAL = 4
_codes = (
    LEAK,
    API_ERROR,
    SCORED_EMPTY,
    EMPTY_ANSWER,
    EMPTY_QUESTION,
    EMPTY_REFERENCE,
    REPEATED_PROMPT,
    TEMPLATE_MARK,
    REPEATED_CHOICE,
    NULL_ANSWER,
    LOOP,
)
#: The rules on faults that are searched for in bytes, each with its search.
_faults = (
    (STACK_TRACE, may_hold_stack_trace),
    (REASONING, may_hold_reasoning),
    (PLACEHOLDER, may_hold_placeholder),
)


@dataclass(frozen=True, slots=True)
class _ByteSearch:
    """Searches in bytes by a function."""

    search: Callable[[bytes], bool]


class _CutSearch:
    """Searches in bytes for a finish reason that says: cut."""

    def search(self, data: bytes, /) -> bool:
        """Return whether `data` may hold one: quicker than one expression for all."""
        start: int = stringzilla.find(data, _reason_end)
        while start >= 0:
            start += len(_reason_end)
            if _cut_text.match(data, start):
                return True
            start = stringzilla.find(data, _reason_end, start)
        return False


def sample_lints(
    adapter: FormatAdapter, dialect: str = "", without: frozenset[str] = frozenset()
) -> tuple[RowLint, ...]:
    """Return the lints of rows that `adapter` reads, in a dialect of the format.

    They leave out the rules `without`, which the vendor's own lints check.
    """
    normalise = adapter.dialect_normalizers.get(dialect)
    checks = _SampleChecks(sample_paths(adapter), normalise, without)
    codes = tuple(code for code in _codes if code not in without)
    return (
        RowLint(
            codes,
            checks.remarks,
            is_clean=checks.is_clean,
            suspects=checks.suspects,
            are_clean=checks.are_clean,
            takes_refused=True,
        ),
        RowLint(
            (TRUNCATED,),
            truncated,
            text=_CutSearch(),
            are_clean=lambda rows: _reasons.isdisjoint(rows.texts),
            takes_refused=True,
        ),
        *(checks.fault_lint(code, search) for code, search in _faults),
        no_value_lint(checks.answer_paths),
    )


def _reported_leaks(counts: Mapping[str, int], records: int) -> tuple[str, ...]:
    """Return the case of references in prompts, unless most prompts hold theirs.

    Then the task is to find it there: a text to extract it from, or a list of labels.
    """
    is_meant = records >= _SEVERAL and counts[_LEAKED] * 2 > records
    return () if is_meant else (_LEAKED,)


LEAK_DECISION = CaseDecision(LEAK, (_LEAKED,), _reported_leaks)


@dataclass(frozen=True, slots=True)
class _SampleChecks:
    """Checks the texts of rows in one dialect."""

    paths: SamplePaths
    #: Returns a row as one in the first dialect, None if it is in that.
    normalise: Callable[[Row], Row] | None
    #: The codes of rules that are not checked.
    without: frozenset[str]
    #: What reads the texts of typed rows, of one and of many, by their class.
    typed: dict[type, TypedTexts] = field(default_factory=dict)
    columns: dict[type, TypedColumns | None] = field(default_factory=dict)

    def is_clean(self, row: Any) -> bool:
        """Return whether a typed row has certainly nothing to remark on."""
        kind = type(row)
        texts = self.typed.get(kind)
        if texts is None:
            if self.normalise is not None or not issubclass(kind, msgspec.Struct):
                return False
            texts = self.typed[kind] = typed_texts(kind, self.paths)
        prompts, questions, references, answers = texts.read(row)
        for answer in answers:
            if _may_be_wrong(answer):
                return False
        for question in questions:
            if not question or question.isspace() or _begins(answers, question):
                return False
        choices = texts.choices_of(row) if texts.choices else ()
        # One text may hold all choices.
        if choices and (len(choices) == 1 or has_repeated(choices)):
            return False
        return not any(
            not reference
            or reference.isspace()
            or _is_in(reference, prompts, texts, row)
            for reference in references
        )

    def suspects(self, rows: Sequence[Any]) -> set[int] | None:
        """Return which of some typed rows may not be clean, None if all of them."""
        kind = type(rows[0])
        if kind not in self.columns:
            is_plain = self.normalise is None and issubclass(kind, msgspec.Struct)
            self.columns[kind] = typed_columns(kind, self.paths) if is_plain else None
        columns = self.columns[kind]
        rows = as_column(rows)
        if columns is not None:
            return columns.suspects(rows)
        if self.normalise is not None or not issubclass(kind, msgspec.Struct):
            return None
        alike = of_typed(rows, self.paths)
        return set() if alike is not None and alike.are_clean() else None

    def are_clean(self, rows: TextColumns) -> bool:
        """Return whether rows of a table have certainly nothing to remark on."""
        if self.normalise is not None:
            return False
        # An empty answer may be one that is scored as right.
        without = self.without
        if are_scored(rows, self.paths):
            without -= {EMPTY_ANSWER}
        return of_table(rows, self.paths).are_clean(without)

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield remarks on the texts of a decoded row."""
        for remark in self._remarks_by(_remarks, row):
            if remark.code not in self.without:
                yield remark

    def fault_lint(self, code: str, search: Callable[[bytes], bool]) -> RowLint:
        """Return the check for one kind of fault, which `search` looks for in bytes."""

        def remarks(row: Any) -> Iterator[Remark]:
            for remark in self._remarks_by(fault_remarks, row):
                if remark.code == code:
                    yield remark

        return RowLint(
            (code,),
            remarks,
            text=_ByteSearch(search),
            are_clean=lambda rows: not search(rows.data),
            takes_refused=True,
        )

    def answer_paths(self, row: Any) -> frozenset[Path]:
        """Return the places of the answers in a decoded row."""
        if not isinstance(row, dict):
            return frozenset()
        texts = self.paths.texts_of(
            row if self.normalise is None else self.normalise(row)
        )
        if self.normalise is not None:
            self._place(texts, row, self.normalise)
        return frozenset(path for path, _ in texts.answers)

    def _remarks_by(
        self, check: Callable[[SampleTexts], Iterator[Remark]], row: Any
    ) -> Iterator[Remark]:
        """Yield the remarks of a check on a decoded row, at their places in it."""
        if not isinstance(row, dict):
            return
        if self.normalise is None:
            texts = self.paths.texts_of(row)
        else:
            texts = self.paths.texts_of(self.normalise(row))
            if not any(True for _ in check(texts)):
                return
            self._place(texts, row, self.normalise)
        yield from check(texts)

    def _place(
        self, texts: SampleTexts, row: Row, normalise: Callable[[Row], Row]
    ) -> None:
        """Replace the places of texts of a normalised row by those in `row` itself.

        They are found by a number that stands for each text and is normalised, too.
        """
        places: list[Path] = []
        numbered = self.paths.texts_of(normalise(_numbered(row, (), places)))
        for name in ("prompts", "questions", "references", "choices", "answers"):
            placed, numbers = getattr(texts, name), getattr(numbered, name)
            placed[:] = [
                (places[int(number)], text)
                for (_, text), (_, number) in zip(placed, numbers, strict=True)
            ]


def _may_be_wrong(answer: str) -> bool:
    if not answer or answer.isspace() or is_null_word(answer) or may_be_error(answer):
        return True
    if may_loop((answer,)):
        return True
    return "<" in answer or "INST]" in answer


def _is_in(reference: str, prompts: Sequence[str], texts: TypedTexts, row: Any) -> bool:
    """Return whether a reference is in a prompt, and not in the choices of a row."""
    for prompt in prompts:
        if may_leak(reference, prompt):
            # The choices are read only where it is there.
            return is_leaked(reference, prompts, ()) and is_leaked(
                reference, prompts, texts.choices_of(row)
            )
    return False


def _begins(answers: Sequence[str], question: str) -> bool:
    """Return whether an answer begins with a whole prompt."""
    if len(question) < BY_CHANCE:
        return False
    return any(answer.startswith(question) for answer in answers)


def _numbered(value: Any, path: Path, places: list[Path]) -> Any:
    """Return a decoded value with a number for each text; add its place to `places`."""
    if isinstance(value, dict):
        return {
            key: _numbered(item, (*path, key), places) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_numbered(item, (*path, at), places) for at, item in enumerate(value)]
    if not isinstance(value, str) or path[-1] == "role":
        return value
    places.append(path)
    return str(len(places) - 1)


def _remarks(texts: SampleTexts) -> Iterator[Remark]:
    yield from _empty(texts)
    yield from value_remarks(texts)
    yield from loop_remarks(texts)
    prompts = [text for _, text in texts.prompts]
    references = [text for _, text in texts.references]
    choices = [text for _, text in texts.choices]
    for path, reference in texts.references:
        if is_leaked(reference, prompts, choices):
            yield Remark(
                LEAK,
                path,
                f"the prompt holds the reference {short_json(reference)}",
                "take it out of the prompt, unless it is meant to be there",
                case=_LEAKED,
            )
            break
    questions = [text for _, text in texts.questions if len(text) >= BY_CHANCE]
    for path, answer in texts.answers:
        yield from _of_answer(path, answer, prompts, references)
        if any(map(answer.startswith, questions)):
            yield Remark(
                REPEATED_PROMPT,
                path,
                "the answer begins with the whole prompt",
                "keep only what the model added",
            )


def _of_answer(
    path: Path, answer: str, prompts: Sequence[str], references: Sequence[str]
) -> Iterator[Remark]:
    kind = api_error(answer, prompts, references)
    if kind:
        yield Remark(
            API_ERROR,
            path,
            f"the answer is {kind}: {short_json(answer.strip())}",
            "ask the model again, or leave the row out: it has no answer",
        )
    mark = _mark.search(answer) if _has_mark(answer) else None
    if mark is not None and not (
        _strikes_out(answer, mark[0])
        or any(mark[0] in text for text in (*prompts, *references))
    ):
        yield Remark(
            TEMPLATE_MARK,
            path,
            f"the answer holds {short_json(mark[0].strip())} of a chat template",
            "remove what follows the answer, and check how the model was asked",
        )


def _strikes_out(answer: str, mark: str) -> bool:
    """Tell whether a mark ends a text that HTML strikes out: `no <s>yes</s>`."""
    is_closed = answer.count("<s>") == answer.count("</s>")
    return mark.rstrip() == "</s>" and is_closed and answer.lstrip().rfind("<s>") > 0


def _has_mark(answer: str) -> bool:
    return "<" in answer or "INST]" in answer


def _empty(texts: SampleTexts) -> Iterator[Remark]:
    """Yield remarks on empty texts."""
    blank = [path for path, text in texts.answers if _is_blank(text)]
    if blank and texts.is_success and len(blank) == len(texts.answers):
        yield Remark(
            SCORED_EMPTY,
            blank[0],
            "the answer is empty, and scored as right",
            "check which answer the score is of",
        )
    elif not texts.has_error:
        for path in blank:
            yield Remark(
                EMPTY_ANSWER,
                path,
                "the answer is empty",
                "ask the model again, unless it is meant to say nothing",
            )
    yield from _each_empty(texts.questions, EMPTY_QUESTION, "prompt")
    yield from _each_empty(texts.references, EMPTY_REFERENCE, "reference")


def _each_empty(texts: Sequence[PlacedText], code: str, what: str) -> Iterator[Remark]:
    for path, text in texts:
        if _is_blank(text):
            yield Remark(code, path, f"the {what} is empty", f"give the {what}")


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def truncated(row: Any) -> Iterator[Remark]:
    """Yield a remark for each finish reason in a row that says: cut (V303)."""
    pending: list[tuple[Path, Any]] = [((), row)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            for key, item in value.items():
                is_reason = key in _reasons and isinstance(item, str)
                if is_reason and item.lower() in _cut:
                    yield _truncated((*path, key), item)
                pending.append(((*path, key), item))
        elif isinstance(value, list):
            pending += [((*path, index), item) for index, item in enumerate(value)]


def _truncated(path: Path, reason: str) -> Remark:
    return Remark(
        TRUNCATED,
        path,
        f"the answer was cut: its finish reason is {short_json(reason)}",
        "raise the limit of tokens, unless it is meant",
    )
