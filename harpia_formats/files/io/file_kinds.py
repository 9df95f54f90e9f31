"""Recognise files that are neither JSON nor CSV, and say how they become text."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import Struct

from harpia_formats.files.io.reader import SourceError


class TextPart(msgspec.Struct, frozen=True):
    """A piece of the text as which a file is read, and where it stands.

    A part that goes on where the one before it ended in the same member continues it.
    A part of a member should begin on a line of its own in the joined text.
    """

    text: bytes
    #: The member of the archive or folder that holds it; "" for the file itself, or for
    #: what stands nowhere, such as the commas between members.
    member: str = ""
    #: The line in the member or file in which it begins, from 1.
    line: int = 1
    #: Bytes of the member or file before it; None at the beginning of a member, and,
    #: without a member, for what stands nowhere.
    offset: int | None = None
    #: Code points before it on its line in the member or file.
    column: int = 0

    @property
    def has_place(self) -> bool:
        """Whether it stands in a member, or in the file itself."""
        return bool(self.member) or self.offset is not None


def no_folder(names: frozenset[str]) -> bool:  # noqa: ARG001 - as other functions take it
    """Return that a folder is not one input, whatever its entries are called."""
    return False


def no_file(head: bytes, name: str) -> bool:  # noqa: ARG001 - as other functions take it
    """Return that a file is not unpacked, whatever it begins with."""
    return False


class Unpacker(msgspec.Struct, frozen=True):
    """How files or folders of one kind are read as text: names and places only."""

    #: What it unpacks, such as `inspect-eval`.
    name: str
    #: Given the first bytes of a file, some thousand, and its name: whether it is of
    #: this kind. It is asked for every file.
    recognizes: Callable[[bytes, str], bool] = no_file
    #: Given the names of the entries of a folder: whether the folder is one input of
    #: this kind, so that the files in it are not read by themselves.
    is_folder: Callable[[frozenset[str]], bool] = no_folder
    #: The place, as `module:name`, of a function that is given an open binary file that
    #: can seek, or the `Path` of a folder, and the name as shown to the user. It yields
    #: the `TextPart`s in an order that is the same in each call, and raises
    #: `SourceError` where the file cannot be read.
    open: str = ""
    #: Suffixes of its files, by which they are found in folders.
    suffixes: tuple[str, ...] = ()


def unpacker_of_file(
    unpackers: Iterable[Unpacker], head: bytes, name: str
) -> Unpacker | None:
    """Return what unpacks a file that begins with `head`, None if nothing does."""
    for one in unpackers:
        if one.recognizes(head, name):
            return one
    return None


def unpacker_of_folder(
    unpackers: Iterable[Unpacker], names: Iterable[str]
) -> Unpacker | None:
    """Return what reads a folder with these entries as one input, None if nothing."""
    entries = frozenset(names)
    return next((one for one in unpackers if one.is_folder(entries)), None)


def suffixes_of(unpackers: Sequence[Unpacker]) -> tuple[str, ...]:
    """Return the suffixes of all files that are unpacked, each once."""
    return tuple(dict.fromkeys(name for one in unpackers for name in one.suffixes))


#: Bytes of a file by which its kind is recognised.
KIND_BYTES = 16 * 1024
#: Bytes that the header of a safetensors file, or the first message of an Arrow stream,
#: may have.
_LONGEST_HEADER = 100 * 1024 * 1024
#: Bytes of the number that says how long such a header is, at least.
_WORD = 8
#: Comments, or lines with them, that may stand at the beginning of a file.
COMMENTS = 50


class FileKind(Struct, frozen=True):
    """A kind of file that cannot be read, and what to do with one."""

    #: With its article, such as "a Parquet file".
    name: str
    help: str = "convert it to JSON Lines or CSV"

    @property
    def reason(self) -> str:
        """Return why a file of this kind cannot be read, as the end of a sentence."""
        return f"is {self.name}, not JSON or CSV; {self.help}"


class OtherKindError(SourceError):
    """A file is neither JSON nor CSV, by its first bytes."""

    def __init__(self, path: str, kind: FileKind) -> None:
        super().__init__(path, kind.reason)
        self.kind = kind

    def __reduce__(self) -> tuple[type, tuple[str, FileKind]]:
        return OtherKindError, (self.path, self.kind)


def _table(name: str, reader: str) -> FileKind:
    """Return the kind of a table that a function of pandas reads."""
    call = f'pandas.{reader}(PATH).to_json(OUT, orient="records", lines=True)'
    return FileKind(name, f"convert it, for example with {call}")


_SQLITE = FileKind(
    "an SQLite database",
    "export a table: sqlite3 -json PATH 'select * from TABLE'",
)
_STREAM = FileKind("an Arrow stream", "read it with pyarrow and write JSON Lines")
_archive = "unpack it and name the files in it"
_PARQUET = _table("a Parquet file", "read_parquet")
_FEATHER = _table("an Arrow or Feather file", "read_feather")
_EXCEL = _table("an Excel workbook", "read_excel")
_PICKLE = FileKind("a Python pickle", "load it in Python and write JSON Lines")
_NUMPY = FileKind("a NumPy file", "load it in Python and write JSON Lines")
_HTML = FileKind(
    "an HTML page", "see what it says: a server may have sent it instead of the data"
)
_XML = FileKind("an XML file")
_IMAGE = FileKind("an image", "name the file with the data")
_YAML = FileKind("a YAML file", "convert it to JSON")
_PYTHON = FileKind(
    "a pretty-printed Python file", "write it with json.dump, not print or pprint"
)
_LFS = FileKind(
    "a Git LFS pointer", "it stands for the data: fetch that with git lfs pull"
)
_SAFETENSORS = FileKind("a safetensors file", "name the file with the data")
_ZIP = FileKind("a zip archive", _archive)
_OPEN_DOCUMENT = FileKind("an OpenDocument file", "save it as CSV")
_TWICE = FileKind("a doubly compressed file", "decompress it once")
_MAGICS: tuple[tuple[bytes, FileKind], ...] = (
    (b"PAR1", _PARQUET),
    (b"PARE", _PARQUET),
    (b"ARROW1", _FEATHER),
    (b"FEA1", _FEATHER),
    (b"ORC", _table("an ORC file", "read_orc")),
    (b"Obj\x01", FileKind("an Avro file")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _EXCEL),
    (b"PK\x05\x06", _ZIP),
    (b"PK\x07\x08", _ZIP),
    (b"version https://git-lfs.github.com/spec/", _LFS),
    (b"SQLite format 3\x00", _SQLITE),
    (b"%PDF-", FileKind("a PDF file", "name the file with the data")),
    (b"\x93NUMPY", _NUMPY),
    (b"\x89HDF\r\n\x1a\n", FileKind("an HDF5 file")),
    (b"GGUF", FileKind("a GGUF model", "name the file with the data")),
    (b"7z\xbc\xaf\x27\x1c", FileKind("a 7z archive", _archive)),
    (b"Rar!\x1a\x07", FileKind("a RAR archive", _archive)),
    (b"\x1f\x8b", _TWICE),
    (b"\xfd7zXZ\x00", _TWICE),
    (b"\x28\xb5\x2f\xfd", _TWICE),
    (b"\x04\x22\x4d\x18", FileKind("an lz4 file", "decompress it first")),
    (b"\x89PNG\r\n\x1a\n", _IMAGE),
    (b"\xff\xd8\xff", _IMAGE),
    (b"GIF8", _IMAGE),
    (b"{\\rtf", FileKind("an RTF document", "save it as plain text")),
    (b"\x7fELF", FileKind("a program", "name the file with the data")),
)
#: Those of them with which the header of a table may begin, too, such as `ORCID`, and
#: the bytes that a text has none of.
_LETTERS = (b"PAR1", b"PARE", b"ARROW1", b"FEA1", b"ORC", b"GGUF", b"GIF8")
_control = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: Bytes of JSON by which most files are known to be nothing else.
_START = 64
_odd = re.compile(rb"['\x00\\]")
_ALL_MAGICS = tuple(magic for magic, _ in _MAGICS)
_html = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_xml = re.compile(rb"<\?xml\s|<svg[\s>]|<!DOCTYPE\s")
#: What may stand before the first element of a page.
_before_html = ((b"<!--", b"-->"), (b"<?xml", b"?>"))
_tar_mark = b"ustar"
_pickle = re.compile(
    # Protocols 2 to 5; protocols 0 and 1 of a list, a dict or an object.
    rb"\x80[\x02-\x05][\x00-\xff]|\((?:[ldt]p\d+\n|[ldt]\.?$)|[\]}]q[\x00-\x08]|"
    rb"c(?:copy_reg|__builtin__)\n"
)
#: The first line of Python data that goes on in the next one.
_python = re.compile(rb"[\[({][\s\[({]*'[^'\n]*'\s*[:,]")
#: A line of a mapping or a list that is not indented.
_yaml_line = re.compile(rb"(?P<key>[A-Za-z_][\w.-]*):(?:[ \t].*)?|-[ \t].*")
#: Lines of a YAML file that does not begin with a mark of YAML.
_FEWEST_LINES = 2
#: What the first line has none of, or it may be the header of a table.
_separators = (b",", b";", b"\t")
#: What a YAML file may begin with instead.
_yaml_start = re.compile(rb"%YAML\s|---[ \t]*(?:#.*)?(?:\r?\n|$)")
_table_suffixes = (".csv", ".tsv")


def kind_of(head: bytes, name: str = "") -> FileKind | None:
    """Return the kind of a file that begins with `head`, None if it may be JSON or CSV.

    `head` are its first `KIND_BYTES` bytes, or all of it. YAML and Python data are text
    as CSV is, so a file whose `name` says that it is CSV is none of them.
    """
    start = head[:_START]
    if start[:1] in {b"{", b"["} and not _odd.search(start):
        return None
    if head.startswith(_ALL_MAGICS) and not may_be_header(head):
        return next(kind for magic, kind in _MAGICS if head.startswith(magic))
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_zip(head, name)
    return _kind_of_content(head) or _kind_of_text(head, name)


def may_be_header(head: bytes) -> bool:
    """Tell whether letters that mark a kind of file begin the header of a table here.

    `head` are the first bytes of the file: letters alone are no header.
    """
    is_text = head.startswith(_LETTERS) and head not in _LETTERS
    return is_text and not _control.search(head[:_START])


def counted_kinds(names: Iterable[str]) -> str:
    """Return how many files of each kind there are, such as "2 HTML pages".

    `names` are the names of their kinds.
    """
    kinds = Counter(names)
    return ", ".join(_counted(kind, times) for kind, times in kinds.most_common())


def _counted(name: str, times: int) -> str:
    """Return a number with the name of a kind, in singular or plural."""
    _, _, noun = name.partition(" ")
    if times == 1:
        return f"1 {noun}"
    plural = noun.replace("file", "files", 1) if "file" in noun else f"{noun}s"
    return f"{times:,} {plural}"


def _kind_of_content(head: bytes) -> FileKind | None:
    """Return the kind of a file that begins with no fixed bytes."""
    if head[257:262] == _tar_mark:
        return FileKind("a tar archive", _archive)
    if _pickle.match(head):
        return _PICKLE
    if _has_length(head):
        return _SAFETENSORS if head[8:10] == b'{"' else _STREAM
    return None


def _kind_of_zip(head: bytes, name: str) -> FileKind:
    """Return the kind of a zip archive by the names of its first members."""
    length = int.from_bytes(head[26:28], "little")
    first = head[30 : 30 + length]
    lower = name.lower()
    if first.endswith(b".npy"):
        return _NUMPY
    if first.endswith((b"data.pkl", b"/byteorder", b"/version")):
        return FileKind("a PyTorch file", "load it in Python and write JSON Lines")
    if first == b"mimetype" and b"opendocument" in head[:200]:
        return _OPEN_DOCUMENT
    if b"xl/" in head or (b"[Content_Types].xml" in head and ".xls" in lower):
        return _EXCEL
    if b"[Content_Types].xml" in head:
        return FileKind("an Office document", "save it as CSV")
    return _ZIP


def _has_length(head: bytes) -> bool:
    """Return whether `head` begins as a safetensors file or an Arrow stream does."""
    if head[8:10] == b'{"':
        return 0 < int.from_bytes(head[:8], "little") <= _LONGEST_HEADER
    if head[:4] == b"\xff\xff\xff\xff":
        length = int.from_bytes(head[4:8], "little")
        return 0 < length <= _LONGEST_HEADER and length % _WORD == 0
    return False


def _kind_of_text(head: bytes, name: str) -> FileKind | None:
    """Return the kind of a text that is neither JSON nor CSV, None if it may be."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = text[:1]
    if first == b"<":
        if _html.match(_without_comments(text)):
            return _HTML
        return _XML if _xml.match(text) else None
    if _is_named_table(name):
        return None
    if first in b"[({":
        return _PYTHON if _python.match(text) and _goes_on(text) else None
    return _YAML if _is_yaml(text) else None


def _without_comments(text: bytes) -> bytes:
    """Return a page without what stands before its first element."""
    for _ in range(COMMENTS):
        end = next((end for start, end in _before_html if text.startswith(start)), None)
        if end is None:
            break
        text = text.partition(end)[2].lstrip()
    return text


def _is_yaml(text: bytes) -> bool:
    """Return whether the first lines are those of a YAML file.

    They are a mapping or a list, and no key is repeated, as in a log.
    """
    if _yaml_start.match(text):
        return True
    lines = [line.rstrip() for line in text.split(b"\n", COMMENTS)[:COMMENTS]]
    if len(text) > KIND_BYTES // 2:
        lines = lines[:-1]  # it may be cut off
    filled = [line for line in lines if line and not line.lstrip().startswith(b"#")]
    if len(filled) < _FEWEST_LINES or any(mark in filled[0] for mark in _separators):
        return False
    outer = [_yaml_line.fullmatch(line) for line in filled if line[:1] not in b" \t"]
    keys = [match and match["key"] for match in outer if not match or match["key"]]
    return None not in outer and len(keys) == len(set(keys))


def _is_named_table(name: str) -> bool:
    lower = name.lower()
    return any(suffix in lower[-8:] for suffix in _table_suffixes)


def _goes_on(text: bytes) -> bool:
    """Return whether the first line of Python data opens more than it closes."""
    line, newline, _ = text.partition(b"\n")
    opened = sum(map(line.count, (b"[", b"{", b"(")))
    closed = sum(map(line.count, (b"]", b"}", b")")))
    return bool(newline) and opened > closed
