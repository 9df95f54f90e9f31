"""Formats: what files of a format look like, as frozen records of functions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

from harpia_formats.model.problem import Path, Severity


class Container(Enum):
    """The container of the records of a file."""

    #: Lines, the items of an array, or a single object; each of them is a record.
    ROWS = auto()
    #: One object that has the array of records at `rows_path`; the rest is a header.
    WRAPPED = auto()
    #: One object of arrays, maybe inside a second object; record n is item n of all.
    COLUMNS = auto()
    #: One value, which is the only record.
    DOCUMENT = auto()
    #: Lines of cells separated by commas; the first line has the names of the columns.
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class Advice:
    """The rule and the help for a condition that a record breaks."""

    code: str
    help: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding about a record that its schema allows."""

    code: str
    #: The place in the record.
    path: Path
    message: str
    help: str = ""
    #: Whether it is about the key and not its value.
    at_key: bool = False
    #: Which case of its rule it is, if only the whole file shows whether that is wrong
    #: (see `CaseDecision`); "" for what is wrong in any file.
    case: str = ""
    #: A milder severity than that of its rule, None for that of the rule.
    severity: Severity | None = None


#: Given the pointer of a schema branch that a record breaks, the place in the record,
#: and the record: the rule and the help, None if the format has none.
Advise = Callable[[str, Path, Any], Advice | None]
#: Given a record: why it looks like the format, "" if it does not.
Sniff = Callable[[Mapping[str, Any]], str]
#: Given a record that the schema allows: findings about it.
Remarks = Callable[[Any], Iterator[Remark]]

#: Given the number of items of each column of a document: findings about them.
Lengths = Callable[[Mapping[Path, int]], Iterator[Remark]]

#: Given a document without its records, and how many these are: findings about that.
CountRemarks = Callable[[Any, int], Iterator[Remark]]


#: The columns by which rows of any columns are known: they hold what is asked, what is
#: expected and what is answered. Others, such as `id`, `score`, `model` and `category`,
#: are those of tables of any kind, too.
_telling = frozenset(
    "prompt system messages references gt choices contexts response reasoning turns "
    "formatted_prompt".split()
)


def telling_columns(columns: Iterable[str]) -> str:
    """Return those of `columns` by which it is known what rows hold, or ""."""
    known = [f"`{name}`" for name in columns if name in _telling]
    return " and ".join([", ".join(known[:-1]), *known[-1:]] if known[1:] else known)


def no_sign(record: Mapping[str, Any]) -> str:  # noqa: ARG001 - the shape of `Sniff`
    """Return "", for dialects without such a sign."""
    return ""


def no_advice(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the shape of `Advise`
    """Return None, for formats without advice."""
    return None


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What is known of a whole file, to check it against its companion file."""

    records: int
    #: The names of its records (see `Companion.names`), in order.
    names: tuple[str, ...]
    #: The digest of its bytes in hexadecimal, None if no algorithm is given.
    digest: str | None


class Totals(Protocol):
    """Adds up the records of a file, to check them together against its companion."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a record."""

    def remarks(self) -> Iterator[Remark]:
        """Yield where the records disagree with the companion, as `closing` does."""


@dataclass(frozen=True, slots=True)
class Companion:
    """How a file is checked against the companion file to which it belongs."""

    #: The id of the format of the companion file.
    format: str
    #: Given the companion document without its records: the expectation. By default
    #: there is none, where only the ids of records are compared.
    expect: Callable[[Mapping[str, Any]], Any] = lambda _: None
    #: Given the expectation and a record: where they disagree.
    remarks: Callable[[Any, Mapping[str, Any]], Iterator[Remark]] = lambda *_: iter(())
    #: Given the expectation and the summary of the file: where they disagree.
    closing: Callable[[Any, FileSummary], Iterator[Remark]] = lambda *_: iter(())
    #: Whether the paths of `closing` are places in the companion file.
    closing_there: bool = False
    #: Given a record: the names of what it is about, such as a metric.
    names: Callable[[Mapping[str, Any]], tuple[str, ...]] = lambda _: ()
    #: Whether `closing` needs the names of the records.
    counts_names: bool = False
    #: Given the expectation: the algorithm for the digest of the file's bytes, or "".
    algorithm: Callable[[Any], str] = lambda _: ""
    #: The algorithms that `algorithm` may return.
    algorithms: tuple[str, ...] = ()
    #: Given the companion document, and the digest of the file before and after it was
    #: repaired, by that algorithm in hexadecimal: the repairs of the document by which
    #: what was true of the file stays true. None if it says nothing of its bytes.
    follow: "Callable[[Mapping[str, Any], str, str], Iterator[Repair]] | None" = None
    #: The key whose value must be the id of a record of the companion file, and the
    #: finding where it is not.
    refers_by: str = ""
    no_such_record: Callable[[], Remark] | None = None
    #: Given the expectation: what adds up the records, made only if one of the rules
    #: `totals_codes` is selected.
    totals: Callable[[Any], Totals] | None = None
    totals_codes: tuple[str, ...] = ()
    #: Given the expectation and a record: findings of lints, asked for only if one of
    #: the rules `row_lint_codes` is selected.
    row_lint: Callable[[Any, Mapping[str, Any]], Iterator[Remark]] | None = None
    row_lint_codes: tuple[str, ...] = ()
    #: Given the name of the companion file and the expectation: the names that a file
    #: may have that belongs to it, the most likely first.
    file_names: Callable[[str, Any], tuple[str, ...]] | None = None
    #: Whether several files belong to one companion: then `file_names` are theirs.
    has_several_files: bool = False
    #: Given the expectation and the name of a file: what is expected of that file.
    of_file: Callable[[Any, str], Any] | None = None
    #: Given the name of a file: the names that its companion file may have, the most
    #: likely first, in which rows are read with what it says (see
    #: `FormatAdapter.around_of`).
    names_for: Callable[[str], tuple[str, ...]] | None = None
    #: Given the companion document, its name and that of a file, both without folders:
    #: why the file is not one of those to which the document belongs, "" if it may be.
    refusal: Callable[[Mapping[str, Any], str, str], str] | None = None
    #: What is not known, or is guessed, of rows that are read without it.
    without: str = ""
    #: Whether each row is read with the record of the companion file that has its id
    #: (see `FormatAdapter.join`), if the user names that file.
    by_id: bool = False


@dataclass(frozen=True, slots=True)
class UnreadFiles:
    """Files in no known format whose records look like those of known formats."""

    #: What the files are, such as "chats with verdicts for KTO".
    title: str
    #: Given a record: by which keys it is of such a file, "" if nothing tells.
    sign: Sniff


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way in which a format is written."""

    #: The id of its schema, which describes the whole document of a wrapped file.
    schema: str
    #: Given a record, or the document where the container is one. The document may be
    #: incomplete: of a large file only the beginning is read.
    sniff: Sniff
    #: Empty for the first dialect, which is written.
    name: str = ""
    container: Container = Container.ROWS
    #: The member that holds the records of a wrapped file.
    rows_at: str = ""
    #: The keys of the objects in the document around that member, the outermost first.
    rows_in: Path = ()
    #: Levels of objects around the arrays of columns, the document itself included.
    depth: int = 1
    #: Findings about the number of items in each column, by its path.
    lengths: Lengths | None = None
    #: The id of a schema that allows only records without remarks of rules that are not
    #: lint. Empty if there is no stricter one than `schema`.
    strict: str = ""
    #: The key with the version of a record, and the values that the vendor documents
    #: for this one; others are refused by --strict. Empty if it has none.
    label_key: str = ""
    labels: frozenset[str] = frozenset()
    #: Findings about what is tolerated or doubtful in a record.
    remarks: Remarks | None = None
    #: Whether a remark can be an error, which makes the record invalid.
    remarks_refuse: bool = False
    #: The place of its `Lints` as `module:name`, loaded only if a rule is selected that
    #: is not checked by default; empty if it has none.
    lints: str = ""
    #: Findings about the document around the records, given without them.
    header_remarks: Remarks | None = None
    #: Findings about the number of records in view of the document around them.
    count_remarks: CountRemarks | None = None
    #: Whether a document without any records is valid.
    may_be_empty: bool = False
    #: Whether NaN and Infinity, which are not JSON, are read as null and noted.
    reads_nan: bool = False
    #: Whether a typed decoder is built for its rows: not if most of them hold objects
    #: of the user's own, too deep or too different to be declared.
    is_typed: bool = True
    #: Whether the vendor documents it; if not, it is noted, and refused by --strict.
    documented: bool = True
    #: Given a record that `sniff` does not match: why it may be in the dialect if the
    #: user names the format, "" if nothing tells.
    possible: Sniff = no_sign
    #: Given a record of a file that several formats match: by what the file is in the
    #: dialect for sure, "" if it may be in another one. None if such files are rare.
    own_sign: Sniff | None = None
    #: The column of a table whose texts are read as expected answers, though tables of
    #: another kind may have a model's answers in it: nothing tells which, unless a row
    #: has the dialect's `own_sign`. Empty if there is no such column.
    contested: str = ""
    #: Given a record: the key of an answer that the format has no place for, or "".
    unread_answer: Sniff = no_sign
    #: Keys of which every record that `sniff` matches has at least one, so that `sniff`
    #: is not asked about a record with none of them. Empty if there are no such keys.
    one_of: frozenset[str] = frozenset()

    @property
    def rows_path(self) -> Path:
        """The path of the records in a wrapped file, () if they are in no member."""
        return (*self.rows_in, self.rows_at) if self.rows_at else ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format, in one version."""

    #: Such as `eee@0.2.0`.
    id: str
    #: What it holds, in a few words.
    title: str
    #: The vendor or tool that defines it.
    vendor: str
    #: The ways in which it is written; the first one is what we write.
    dialects: tuple[Dialect, ...]
    #: The key that holds a record's id, empty if there is none.
    id_key: str = ""
    #: Whether several records may have the same id, each with other answers.
    ids_repeat: bool = False
    #: Paths of keys that identify a record together with the id.
    id_with: tuple[Path, ...] = ()
    #: Whether the integer 1 and the text "1" are the same id.
    id_by_text: bool = False
    advise: Advise = no_advice
    #: How its files are checked against a companion file, if there may be one.
    companion: Companion | None = None
    #: Other ids of this version.
    aliases: tuple[str, ...] = ()
    #: A name that it shares with other formats; as input it stands for any of them.
    family: str = ""
    #: Whether almost any file looks like it, so that other formats go first.
    general: bool = False
    #: The place of its `FormatAdapter` as `module:name`, loaded only to convert; empty
    #: for documents, which are not records.
    adapter: str = ""
    #: Whether its rows can be read and not written: the adapter has no `write`.
    read_only: bool = False
    #: The name of the unpacker of its files, which makes rows of them; no other files
    #: are detected as it. Empty if its files are text, or any unpacker's.
    unpacked_by: str = ""
    #: The place as `module:name` of what returns the `RowWriter` of its files, given
    #: what takes bytes and the suffix of the file; empty where its container says it.
    row_writer: str = ""
    #: The place of its `UnsafeRepairs` as `module:name`; empty if it has none.
    unsafe_repairs: str = ""
    #: The place of its `ResultFormat` as `module:name`; empty if no scores are written
    #: to it.
    results: str = ""

    @property
    def identity_paths(self) -> tuple[Path, ...]:
        """Paths of the values that identify a record; none if ids may repeat."""
        if not self.id_key or self.ids_repeat:
            return ()
        return ((self.id_key,), *self.id_with)


#: What a repair does with the value at its path, or with the key of it.
REMOVE, REPLACE, RENAME_KEY, ADD = "remove", "replace", "rename-key", "add"


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of one value in a record, made because the record breaks a rule."""

    #: The code of the rule.
    code: str
    #: "remove", "replace", "rename-key", or "add" for a key that is not there.
    kind: str
    #: The value; for "add" the value that is to be there.
    path: Path
    #: What was done, in the past tense, such as `removed "formatted"`.
    what: str
    #: The new value, or the new key.
    value: Any = None
    #: Whether text is lost that stands nowhere else in the record; `what` says which.
    loses_text: bool = False
    #: Whether the value is counted in other values of the record: it is not while the
    #: record breaks a condition (a rule of the letter C), since either may be wrong.
    is_count: bool = False


#: Given a decoded record: repairs that may hide what was wrong with it.
UnsafeRepairs = Callable[[Any], Iterator[Repair]]
