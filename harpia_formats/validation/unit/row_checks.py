"""What is checked of the rows of a file, and the verdict on a chunk of them."""

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.model.format import Advise, Remark, Remarks, no_advice
from harpia_formats.validation.dedup.identity import IdentityReader

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.validation.diagnosis.root_causes import Finding, SharedFindings

_decode = msgspec.json.Decoder().decode

#: Returns whether another schema engine agrees with a verdict on a decoded record.
SecondOpinion = Callable[[Any, bool], bool]

#: Returns a remark on an invalid record that looks like one of another format.
FindOtherFormat = Callable[[Any], Remark | None]


class RowChecks(msgspec.Struct, frozen=True):
    """What is checked of rows in addition to their schema."""

    #: Returns the vendor's advice on a schema error.
    advise: Advise = no_advice
    #: Returns remarks on a record that the schema allows.
    remarks: Remarks | None = None
    #: A schema that allows only records without remarks, to build the typed decoder
    #: of; without it, and with remarks, every record is decoded and checked alone.
    decoder_schema: Schema | None = None
    #: Whether a typed decoder is built at all.
    is_typed: bool = True
    #: Whether more is read of the accepted rows than their ids.
    keeps_texts: bool = True
    find_other_format: FindOtherFormat | None = None
    #: Reads the ids of records, if repeated ids are looked for.
    identity: IdentityReader | None = None
    #: Whether any rule on schema errors is active.
    asks_schema: bool = True
    #: Whether the schema's `format` refuses values.
    formats: bool = False
    #: Whether the rows are items of a column, which need not be objects.
    of_items: bool = False
    #: Whether repeated keys of objects are looked for.
    repeated_keys: bool = True
    second_opinion: SecondOpinion | None = None


class Verdict(msgspec.Struct):
    """The findings on one chunk, its ids and its decoded rows."""

    records: int = 0
    #: Indices of blank rows.
    blank: list[int] = msgspec.field(default_factory=list)
    findings: "list[Finding]" = msgspec.field(default_factory=list)
    #: Findings on rows that have no others, if the caller takes them so.
    shared: "list[SharedFindings] | None" = None
    #: The ids of the records that have one, as texts.
    keys: list[str] = msgspec.field(default_factory=list)
    #: What each rule across rows compares of the records, as digests.
    across: "tuple[array[int], ...]" = ()
    #: The rows with a remark whose case the whole file decides, by `held_key`.
    held: dict[str, list[int]] = msgspec.field(default_factory=dict)
    #: What lints of the file count.
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    #: All rows decoded, if the typed decoder accepted them at once.
    accepted: list[Any] | None = None
    #: Otherwise each row decoded if the decoder accepted it, else None; empty if the
    #: decoder was replaced while the chunk was validated.
    values: list[Any] = msgspec.field(default_factory=list)


class Disagreement(Exception):  # noqa: N818 - reads as what happened
    """The schema validator and the reference engine differ on a record: our bug."""

    def __init__(self, *, schema_validator: bool) -> None:
        super().__init__(schema_validator)
        self.schema_validator = schema_validator

    def __str__(self) -> str:
        ours, theirs = (
            ("valid", "invalid") if self.schema_validator else ("invalid", "valid")
        )
        return f"we say {ours}, the reference engine says {theirs}"


def compare_verdicts(
    rows: list[bytes], verdict: Verdict, second_opinion: SecondOpinion
) -> None:
    """Compare the verdict on all rows of valid JSON with the reference engine.

    Raises `Disagreement` if one differs.
    """
    refused = set(verdict.blank)
    unknown: set[int] = set()
    for finding in verdict.findings:
        if finding.is_refusal:
            (unknown if finding.code == "V901" else refused).add(finding.row)
        elif finding.is_fault:
            unknown.add(finding.row)
    for number, text in enumerate(rows):
        if number in unknown or number in verdict.blank:
            continue
        valid = number not in refused
        if not second_opinion(_decode(text), valid):
            raise Disagreement(schema_validator=valid)
