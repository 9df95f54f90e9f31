"""Lints and expectations: checks of rows and data sets, made only if asked for."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.record import Record


class BytesSearch(Protocol):
    """Searches in bytes, as a compiled regular expression does."""

    def search(self, data: bytes, /) -> Any:
        """Return what is found in `data`, which is false if nothing is."""


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Rows of a table: objects with the same keys, whose values are all texts."""

    #: The text of each row, by the keys.
    texts: Mapping[str, Sequence[str]]
    #: Bytes that have all these texts in UTF-8, but for quotes in them.
    data: bytes
    count: int

    def rows(self) -> list[dict[str, str]]:
        """Return each row as an object."""
        records = zip(*self.texts.values(), strict=True)
        return [dict(zip(self.texts, record, strict=True)) for record in records]


@dataclass(frozen=True, slots=True)
class RowLint:
    """A check of single rows.

    `remarks` is called for each row that the schema allows, unless `is_clean`, `text`
    or `are_clean` tell that there is nothing to find in it.
    """

    #: The codes of the rules that `remarks` may name; it is called if one is selected,
    #: and what it says of the others is not reported.
    codes: tuple[str, ...]
    #: Given a decoded row: findings about it.
    remarks: Callable[[Any], Iterator[Remark]]
    #: Given a row as the typed decoder reads it: whether `remarks` certainly yields
    #: nothing. Members are attributes with the name of their key, those that are
    #: absent are `UNSET`, and numbers that the schema calls numbers are floats. An
    #: `AttributeError`, as for a key that the schema does not declare, means no.
    is_clean: Callable[[Any], bool] | None = None
    #: Given rows as for `is_clean`, one at least and all of one class: the numbers of
    #: those for which that may be false; None, or an `AttributeError`, if it may be
    #: for all.
    suspects: Callable[[Sequence[Any]], Collection[int] | None] | None = None
    #: What is searched for in the text of a row, in which ASCII letters and marks have
    #: none but the usual escapes, such as `\n`: if nothing is found, `remarks` yields
    #: nothing. It is searched for in the bytes of many rows at once, first.
    text: BytesSearch | None = None
    #: Given rows of a table: whether `remarks` certainly yields nothing for any one.
    are_clean: Callable[[TextColumns], bool] | None = None
    #: Whether rows that the schema refuses are checked, too: `remarks` must then take
    #: any JSON value anywhere. What it says at the place of a schema error, above or
    #: below it is not reported.
    takes_refused: bool = False


class Agreement(Enum):
    """In what the rows of a file must agree, or differ."""

    #: All rows have the same value.
    ONE_VALUE = auto()
    #: The values of all rows have the same JSON type.
    ONE_TYPE = auto()
    #: Rows with the same key have the same value.
    BY_KEY = auto()
    #: No two rows have the same value.
    UNIQUE = auto()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row that does not agree with an earlier row of its file."""

    #: The decoded row.
    row: Any
    #: The text of its value, and that of the earlier row: "" if it is not known.
    value: str
    earlier: str
    #: Which row the earlier one is, such as "record 1, in line 2", or "an earlier
    #: record" if it is not known.
    owner: str


#: Given the values at the paths of a rule, `UNSET` where a row has none: the text that
#: is compared; None if the rule does not concern the row. Values may be of any type.
TextOf = Callable[..., str | None]
#: Given columns of these values: the texts of the rows, None if it cannot tell them.
TextsOf = Callable[[Sequence[Sequence[Any]]], Sequence[str | None] | None]
#: What a row says roughly: see `RoughTexts`.
RoughText = tuple[int, int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RoughTexts:
    """What some rows say roughly: two digests for each row that says something."""

    #: They are the same wherever that which is compared is, and quicker to make.
    rough: Sequence[int]
    #: The digests of whole texts, of which nothing is left out: where these are the
    #: same, so is all else.
    whole: Sequence[int]
    #: The whole texts of each row, None for one that says nothing.
    texts: Sequence[tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class AcrossRows:
    """A check that the rows of a file agree, or differ, in some of their values.

    It is made of all rows that are JSON objects, those that the schema refuses, too.
    """

    #: The code of its rule.
    code: str
    agreement: Agreement
    #: The paths of the values that are compared.
    value: tuple[Path, ...]
    #: Given a row that disagrees: the message.
    message: Callable[[Disagreement], str]
    help: str = ""
    #: The paths of the key, for `BY_KEY`.
    key: tuple[Path, ...] = ()
    #: How values and keys are compared; None to compare them as they are: then rows
    #: are passed over in which one of the values is absent or null.
    value_text: TextOf | None = None
    key_text: TextOf | None = None
    #: As these, for some rows at once: given a column of values for each path. None if
    #: they cannot tell.
    value_texts: TextsOf | None = None
    key_texts: TextsOf | None = None
    #: The path at which the finding is placed, if that is not the first of `value`.
    place: Path = ()
    #: For `BY_KEY`: given the values at the first path of some rows, whether key and
    #: value are the same text in each of them. If they are in all rows of a file,
    #: nothing is compared.
    are_plain: Callable[[Sequence[Any]], bool] | None = None
    #: Given the columns of values at the paths of `key` and `value`: whether the rule
    #: certainly concerns none of the rows.
    concerns_none: Callable[[Sequence[Sequence[Any]]], bool] | None = None
    #: For `UNIQUE`: given a column of values for each path, what the rows say roughly:
    #: something where `value_text` is a text. Rows with the same whole texts are not
    #: compared by `value_text`: the message must not name the value.
    roughly: Callable[[Sequence[Sequence[Any]]], RoughTexts] | None = None
    #: Given a value: what is compared instead of it, by the functions for texts, too.
    prepare: Callable[[Any], Any] | None = None
    #: Whether `value_text` and `roughly` take objects as the typed decoder reads
    #: them, too.
    takes_typed: bool = False
    #: Given a decoded row: one that has the paths.
    normalize: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class CaseDecision:
    """How the whole file decides which remarks on its rows are reported."""

    #: The code of the rule, whose remarks name their case.
    code: str
    cases: tuple[str, ...]
    #: Given how many records have a remark of each case, and how many records there
    #: are: the cases that are reported.
    reported: Callable[[Mapping[str, int], int], Collection[str]]
    #: The code of a rule across rows that may be broken by the same mistake: without it
    #: there is nothing to decide. "" if no other rule has to do with it.
    with_rule: str = ""


@dataclass(frozen=True, slots=True)
class FileRemark:
    """A remark on a file, placed in its first row that is an example of it."""

    remark: Remark
    #: Tells whether a decoded row is an example.
    is_example: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class FileLint:
    """A check of what the rows of a file are together, by counts of them."""

    #: The code of its rule.
    code: str
    #: The paths of the values that are counted.
    paths: tuple[Path, ...]
    #: Given a column of values at each path, `UNSET` where a row has none: the counts,
    #: which are added up. Values may be of any type, and numbers may be floats.
    count: Callable[[Sequence[Sequence[Any]]], Mapping[str, int]]
    #: Given the counts of the file, and what its companion states, None without one:
    #: the remarks.
    remarks: Callable[[Mapping[str, int], Any], Iterator[FileRemark]]


@dataclass(frozen=True, slots=True)
class SameMistake:
    """Two rules that one mistake breaks: only the more severe of them is reported."""

    #: The code that is reported if both are as severe, and the other one.
    first: str
    second: str
    #: Given a remark of each on one row, and the row: whether the two are of one
    #: mistake. They always are where one of the rules is about several rows.
    is_one: Callable[[Remark, Remark, Any], bool] = lambda *_: True


@dataclass(frozen=True, slots=True)
class Lints:
    """The lints of one dialect."""

    rows: tuple[RowLint, ...] = ()
    across: tuple[AcrossRows, ...] = ()
    files: tuple[FileLint, ...] = ()
    decisions: tuple[CaseDecision, ...] = ()
    same: tuple[SameMistake, ...] = ()
    #: Codes of rules of the hub that these lints check in their own way.
    covers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """Whether an expectation of another package is met, and what was found.

    Its texts are shown where no value of a record may be: they hold none.
    """

    #: None if it cannot be known.
    is_met: bool | None
    #: What was found, in a few words.
    found: str
    #: What is wrong with the data set as a whole, each a sentence.
    messages: tuple[str, ...] = ()


class ExpectationCheck:
    """The check of one data set: takes each valid record, then returns the result."""

    #: What is expected, in a few words, such as "labels balanced within 10 %".
    expected: str = ""

    def take(self, record: Record) -> str:
        """Return what is wrong with a record as a sentence, "" if nothing is."""
        raise NotImplementedError

    def result(self) -> ExpectationResult:
        """Return the result after the last record.

        It is not met, whatever this returns, if something was wrong with a record.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation that preflight files can state in the table `own`."""

    #: What it requires, in one sentence.
    summary: str
    #: Returns a new check for the value in the file, which is given as TOML has it.
    #: Raises `ValueError` with the reason for a value that cannot be used.
    prepare: Callable[[Any], ExpectationCheck]
