"""Our own formats: record, judge-verdicts, and any keys (json, csv, parquet)."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.files.io.file_kinds import Unpacker, may_be_header
from harpia_formats.model.format import (
    Container,
    Dialect,
    Format,
    no_sign,
    telling_columns,
)

RECORD = "record"

#: The keys of records, and the header that one of them may hold.
_of_records = frozenset(
    "id prompt system messages references gt choices contexts category source params "
    "metadata extra outputs header".split()
)
#: Keys of which a record has at least one apart from its outputs.
_other_keys = ("prompt", "messages", "references", "header")
#: Keys of an output, of which a record without these has at least one.
_answer_keys = ("text", "scores")
#: Keys of lists of documents, which are scored without outputs.
_document_keys = ("retrieved_documents", "ground_truth_documents")
#: Keys by which an EvalEval row is detected.
_eee_keys = {"interaction_type", "answer_attribution"}


def record_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a record, or ""."""
    if "outputs" not in row:
        return _sign_by_documents(row)
    outputs = _outputs_of(row)
    if outputs is None or row.keys() >= _eee_keys:
        return ""
    other = next((key for key in _other_keys if key in row), "")
    other = other or _key_of_answers(row, outputs)
    return f"`outputs` and `{other}`" if other else ""


def _outputs_of(row: Mapping[str, Any]) -> list[Any] | None:
    """Return the outputs of a row; None if they are no list, or one of no object."""
    outputs = row.get("outputs")
    is_list = isinstance(outputs, list)
    if is_list and (not outputs or any(isinstance(one, dict) for one in outputs)):
        return outputs
    return None


def _sign_by_documents(row: Mapping[str, Any]) -> str:
    """Return by which documents a row without outputs is a record, or "".

    Messages with metadata are rows of other formats.
    """
    extra, metadata = row.get("extra"), row.get("metadata")
    places = [*extra.values()] if isinstance(extra, Mapping) else []
    if "prompt" in row and "messages" not in row:
        places.append(metadata)
    has_documents = any(
        isinstance(place, Mapping)
        and all(isinstance(place.get(key), list) for key in _document_keys)
        for place in places
    )
    is_record = has_documents and row.keys() <= _of_records
    return " and ".join(f"`{key}`" for key in _document_keys) if is_record else ""


def _key_of_answers(row: Mapping[str, Any], outputs: list[Any]) -> str:
    """Return the key by which a row that asks nothing is a record, or ""."""
    if isinstance(row.get("extra"), Mapping):
        return "extra"
    has_answer = any(
        isinstance(output, Mapping) and any(key in output for key in _answer_keys)
        for output in outputs
    )
    return "id" if has_answer and "id" in row else ""


RECORD_FORMAT = Format(
    id=RECORD,
    title="One evaluated sample with all of its outputs",
    vendor="any",
    adapter="harpia_converters.hub.mapping:RECORD",
    results="harpia_converters.hub.results_writers:RECORDS",
    dialects=(
        Dialect(
            RECORD, record_sign, one_of=frozenset({"outputs", "extra", "metadata"})
        ),
    ),
    id_key="id",
    ids_repeat=True,
)


VERDICTS = "judge-verdicts"

#: Keys that no other format has, apart from the result of a verdict.
_keys = frozenset({"attempts", "cached"})


def verdict_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is the verdict of a judge, or ""."""
    is_verdict = "result" in row and row.keys() >= _keys
    return "`result`, `attempts` and `cached`" if is_verdict else ""


def columns_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` has the verdicts of a judge, or ""."""
    metas = document.get("meta")
    if not isinstance(document.get("results"), list) or not isinstance(metas, list):
        return ""
    first = metas[0] if metas else None
    is_verdict = isinstance(first, Mapping) and first.keys() >= _keys
    return "`results`, and `attempts` and `cached` in `meta`" if is_verdict else ""


VERDICTS_FORMAT = Format(
    id=VERDICTS,
    title="The verdicts of an LLM judge: `harpia-formats judge`",
    vendor="any",
    adapter="harpia_converters.hub.mapping:VERDICTS",
    dialects=(
        Dialect(VERDICTS, verdict_sign, one_of=_keys),
        Dialect(
            "judge-verdicts-columns",
            columns_sign,
            "columns",
            container=Container.COLUMNS,
            one_of=frozenset({"results"}),
        ),
    ),
    id_key="record_id",
    ids_repeat=True,
    read_only=True,
)


JSON_FORMAT = Format(
    id="json",
    title="Rows of any keys, which --map gives their meaning",
    vendor="any",
    adapter="harpia_converters.hub.mapping:JSON",
    # That keys have names says nothing of what they mean.
    dialects=(Dialect("json", no_sign),),
    id_key="id",
    ids_repeat=True,
    read_only=True,
    general=True,
)


def csv_sign(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a table: any columns at all, or ""."""
    return "named columns" if row else ""


CSV_FORMAT = Format(
    id="csv",
    title="A table with any columns",
    vendor="any",
    adapter="harpia_converters.hub.csv_mapping:TABLE",
    results="harpia_converters.hub.results_writers:TABLES",
    dialects=(
        Dialect("csv", csv_sign, container=Container.TABLE, own_sign=telling_columns),
    ),
    general=True,
)


#: The name of the unpacker of its files.
TABLE = "table"


def sign_of_record(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a record: objects in `outputs`, and most keys, or ""."""
    if _outputs_of(row) is None:
        return ""
    is_record = 2 * len(row.keys() - _of_records) < len(row)
    return "`outputs` and keys of records" if is_record else ""


def sign_of_columns(row: Mapping[str, Any]) -> str:
    """Return by what `row` is a row of a table: any other columns at all, or ""."""
    return "named columns" if row and not sign_of_record(row) else ""


PARQUET_FORMAT = Format(
    id="parquet",
    title="Rows of any columns in Parquet, Arrow or Feather",
    vendor="any",
    adapter="harpia_converters.hub.mapping:PARQUET",
    row_writer="harpia_formats.conversion.containers.arrow_table:table_writer",
    unpacked_by=TABLE,
    dialects=(
        Dialect("record", sign_of_record),
        Dialect("parquet", sign_of_columns, name="columns", own_sign=telling_columns),
    ),
    id_key="id",
    ids_repeat=True,
    general=True,
)


#: What a Parquet file begins with, one that is encrypted, a file of Arrow (Feather is
#: the same), and the first message of a stream of Arrow.
_magics = (b"PAR1", b"PARE", b"ARROW1\x00\x00", b"\xff\xff\xff\xff")
#: Files next to the data in a folder that `save_to_disk` has written.
_SAVED = frozenset({"state.json", "dataset_info.json"})


def _recognizes(head: bytes, name: str) -> bool:  # noqa: ARG001 - the shape of an unpacker
    return head.startswith(_magics) and not may_be_header(head)


def _is_folder(names: frozenset[str]) -> bool:
    return names >= _SAVED


UNPACKER = Unpacker(
    TABLE,
    recognizes=_recognizes,
    is_folder=_is_folder,
    open="harpia_converters.hub.read_table:text_parts",
    suffixes=(".parquet", ".arrow", ".feather"),
)
