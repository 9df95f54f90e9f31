"""What a format is: a frozen record of functions, registered in a table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from harpia_formats.model.problem import Path


class Container(Enum):
    """How the records of a file are put together."""

    #: Lines, the items of an array, or a single object: each is a record.
    ROWS = auto()
    #: One object whose member `rows_at` is the array of records; the rest is a header.
    WRAPPED = auto()
    #: One object of arrays, perhaps one more level down; record n is item n of each.
    COLUMNS = auto()
    #: One value, which is the only record.
    DOCUMENT = auto()
    #: Lines of fields set apart by commas, the first of them a header.
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class Advice:
    """What a format knows better about a broken condition than its schema says."""

    code: str
    help: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What a format has to say of a record that its schema allows."""

    code: str
    #: Where in the record.
    path: Path
    message: str
    help: str = ""
    #: Whether it is about the key and not its value.
    at_key: bool = False


#: Given a branch of the schema (a pointer) that a record breaks, where it breaks it
#: and the record: the rule and the help, if the format knows them.
Advise = Callable[[str, Path, Any], Advice | None]
#: Given a record: why it looks like the format, empty if it does not.
Sniff = Callable[[Mapping[str, Any]], str]
#: Given a record that the schema allows: what is to be said of it all the same.
Remarks = Callable[[Any], Iterator[Remark]]


#: Given the number of items of each column of a document: what is to be said of them.
Lengths = Callable[[Mapping[Path, int]], Iterator[Remark]]


def no_advice(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the shape of `Advise`
    """Return nothing."""
    return None


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a file came to that is checked against another."""

    records: int
    #: What its records are called by what they are about, in order.
    names: tuple[str, ...]
    #: Digest of its bytes in hexadecimal, if one was asked for.
    digest: str | None


@dataclass(frozen=True, slots=True)
class Companion:
    """How files of a format are checked against another file, which it belongs to."""

    #: The id of the format of the other file.
    format: str
    #: Given the other document without its records: what is expected.
    expect: Callable[[Mapping[str, Any]], Any]
    #: Given what is expected and a record: where they disagree.
    remarks: Callable[[Any, Mapping[str, Any]], Iterator[Remark]]
    #: Given what is expected and what was seen of all records: the same for the file.
    closing: Callable[[Any, FileSummary], Iterator[Remark]]
    #: Whether the paths of the latter are places in the other file.
    closing_there: bool = False
    #: Given a record: what it is about.
    names: Callable[[Mapping[str, Any]], tuple[str, ...]] = lambda _: ()
    #: Whether it matters which of them there are.
    counts_names: bool = False
    #: Given what is expected: the algorithm to digest the file's bytes with, or "".
    algorithm: Callable[[Any], str] = lambda _: ""
    #: The key whose value must be the id of a record of the other file, and what to
    #: say where it is not.
    refers_by: str = ""
    no_such_record: Callable[[], Remark] | None = None
    #: Given the name of the other file and what is expected: what a file may be called
    #: that belongs to it, likeliest first.
    file_names: Callable[[str, Any], tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way in which a format is written."""

    #: The id of its schema; of a wrapped file it speaks of the whole document.
    schema: str
    #: Given a record, or the whole document where the container is one. The document
    #: may be incomplete: of a large file only the beginning is looked at.
    sniff: Sniff
    #: Empty for the one that the vendor documents first.
    name: str = ""
    container: Container = Container.ROWS
    #: The member that holds the records of a wrapped file.
    rows_at: str = ""
    #: Levels of objects around the arrays of columns, the document itself included.
    depth: int = 1
    #: What is to be said of the number of items in each column, by its path.
    lengths: Lengths | None = None
    #: The id of the schema that says no more than what the vendor's document does; it
    #: allows only records without remarks. Empty if `schema` itself does that.
    strict: str = ""
    #: What is tolerated or doubtful in a record.
    remarks: Remarks | None = None
    #: Whether what is said there may make a record invalid.
    remarks_refuse: bool = False
    #: The same of the document around the records, which are left out of it.
    header_remarks: Remarks | None = None
    #: Whether the vendor documents it; another one is noted, and refused if strict.
    documented: bool = True


@dataclass(frozen=True, slots=True)
class Format:
    """One format, in one version."""

    #: Such as `eee@0.2.0`.
    id: str
    #: What it is, in a few words.
    title: str
    #: Whose it is.
    vendor: str
    #: The ways in which it is written, the documented one first.
    dialects: tuple[Dialect, ...]
    #: The key that holds a record's id, empty if there is none.
    id_key: str = ""
    #: Whether several records may have one id, each with other answers.
    ids_repeat: bool = False
    #: Keys that tell records apart together with the id, a path each.
    id_with: tuple[Path, ...] = ()
    #: Whether the integer 1 and the text "1" are the same id.
    id_by_text: bool = False
    advise: Advise = no_advice
    #: The file that its files are checked against, if there may be one.
    companion: Companion | None = None
    #: Other ids that this version goes by.
    aliases: tuple[str, ...] = ()
    #: The name that it shares with others, which any of them may be recognised for.
    family: str = ""
    #: Whether so much looks like it that it is taken only where nothing else fits.
    general: bool = False
    #: Where its `FormatAdapter` is, as `module:name`, which is loaded only to convert;
    #: empty for documents, which are not records.
    adapter: str = ""
    #: Whether its rows can be read and not written: the adapter has no `write`.
    read_only: bool = False
    #: Where its `ResultFormat` is, as `module:name`; empty if no scores are written
    #: to it.
    results: str = ""

    @property
    def identity_paths(self) -> tuple[Path, ...]:
        """Paths of what no two records may have alike; none if they may."""
        if not self.id_key or self.ids_repeat:
            return ()
        return ((self.id_key,), *self.id_with)
