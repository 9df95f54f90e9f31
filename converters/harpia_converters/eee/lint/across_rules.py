"""E3: rules across the rows of a file of samples."""

from harpia_converters.eee.lint.example_rows import HASH_A, HASH_C, SINGLE, single
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_shape = "eee@0.2.0"
_second = single(b'"sample_id": "1"', b'"sample_id": "2"')
_good = SINGLE + _second
#: A question and reference that are the same as `_second` where they are joined.
_joined = _second.replace(b'"2+2?", "reference": "4"', b'"2+2", "reference": "?4"')
_joined = _joined.replace(b'["3", "4"]', b'["3", "?4"]')
_second_id = b'"sample_id": "1-epoch-2"'


def _of_epoch(epoch: bytes) -> bytes:
    """Return a row that names its epoch."""
    return single(
        b'"answer_attribution"',
        b'"metadata": {"epoch": "%s"}, "answer_attribution"' % epoch,
    )


RULES = (
    Rule(
        "E301",
        "evaluation-ids-differ",
        Severity.ERROR,
        "All rows of a file must have the same evaluation_id.",
        "A file of samples belongs to one aggregate, which has one evaluation_id "
        "(E201 compares the two).",
        SINGLE + _second.replace(b"1770681600", b"1770681601"),
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E302",
        "model-ids-differ",
        Severity.WARNING,
        "All rows of a file must have the same model_id.",
        "A file of samples belongs to one aggregate, which speaks of one model (E202 "
        "compares the two).",
        SINGLE + _second.replace(b'"org/m"', b'"org/n"'),
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E303",
        "sample-id-types",
        Severity.NOTE,
        "An id must not be a number in one row and text in another.",
        '1 and "1" are different ids here and the same in other tools. From 0.2.1 on '
        "ids are text.",
        SINGLE + single(b'"sample_id": "1"', b'"sample_id": 1'),
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E304",
        "hash-collision",
        Severity.WARNING,
        "Rows must have the same sample_hash if their question and reference are the "
        "same, and only then.",
        "One hash of two questions matches samples that differ. Two hashes of one "
        "sample_id of an evaluation, as of different models, mean that they were asked "
        "different questions.",
        SINGLE + _joined,
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E305",
        "evaluation-name-varies",
        Severity.WARNING,
        "All rows of one result must have the same evaluation_name.",
        "The result is the one of evaluation_result_id. Without it, names that differ "
        "in case, spaces, hyphens or underscores only are taken for one result.",
        SINGLE + _second.replace(b'"gsm8k", "sample', b'"GSM-8K", "sample'),
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E306",
        "hash-recipes-mixed",
        Severity.NOTE,
        "The hashes of a file should be by one recipe.",
        "Four recipes are in use (see E103), and hashes of different ones never match, "
        "even of the same question. Files that were joined have several.",
        SINGLE + _second.replace(HASH_C, HASH_A),
        _good,
        _shape,
        lint=True,
    ),
    Rule(
        "E307",
        "repeated-sample",
        Severity.ERROR,
        "The rows of a result must not differ in metadata.epoch alone.",
        "Scores, answers and other runs are joined by sample_id: with several epochs "
        "of one sample the join is ambiguous. Inspect's converter writes a row for "
        "each epoch, all with the sample_id and the reduced score of the sample. "
        "Rows with the same metadata.epoch, or with none, break X101.",
        _of_epoch(b"1") + _of_epoch(b"2"),
        _of_epoch(b"1") + _of_epoch(b"2").replace(b'"sample_id": "1"', _second_id),
        _shape,
        lint=True,
    ),
)
