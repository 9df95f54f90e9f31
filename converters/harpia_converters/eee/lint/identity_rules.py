"""E10 and E12: rules on what a row is about, its texts and its keys."""

from harpia_converters.eee.lint.example_rows import AGENTIC, SINGLE, agentic, single
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_shape = "eee@0.2.0"

RULES = (
    Rule(
        "E101",
        "unknown-schema-version",
        Severity.WARNING,
        "schema_version must be a known label, of the shape that the row has.",
        "The labels are 0.2.0, 0.2.1, 0.2.2, 0.2.3 and 0.3.0, with or without "
        "instance_level_eval_ in front. Only 0.2.0 has interactions, and only the "
        "others have messages. The shape decides what a row is validated as.",
        single(b'"0.2.0"', b'"0.3.0"'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E102",
        "model-id-form",
        Severity.WARNING,
        "model_id must have the form organisation/model.",
        "It has at least one slash, and neither an empty part nor white space around "
        "a part. Without the organisation, results of different models of one name "
        "are joined.",
        single(b'"org/m"', b'"m"'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E103",
        "sample-hash",
        Severity.WARNING,
        "sample_hash must be the SHA-256 of the question and its references.",
        "Converters use four recipes, and any of them is accepted. A: compact JSON of "
        "raw and all references, keys sorted, ASCII escapes (documented). B: JSON with "
        "spaces, of raw and the first reference (lm_eval). C: raw and the first "
        "reference, joined (HELM, and the text of 0.2.0). D: raw and all references, "
        "joined (Inspect). A hash that none of them gives is of another text, so that "
        "samples of different runs are not recognised as the same.",
        single(b'"2+2?"', b'"2+3?"'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E121",
        "choices",
        Severity.NOTE,
        "A reference must be one of the choices, or a letter or number of one.",
        "Otherwise no answer can be right. Of several references one is enough. "
        "Letters are A, B, ...; numbers count from 0 or 1. An empty list of choices is "
        "better left out.",
        single(b'["3", "4"]', b'["3", "5"]'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E122",
        "empty-text",
        Severity.WARNING,
        "The texts and names of a row must not be empty.",
        "An empty question, reference or id is mostly a field that a converter did not "
        "find. Empty answers are reported by V304 and V305. Where there is nothing to "
        "compare with, the list of references is empty, or the text of 0.2.0, unless "
        "there are choices. Nothing need be extracted from an answer that is not "
        "correct.",
        single(b'"evaluation_name": "gsm8k"', b'"evaluation_name": ""'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E124",
        "metrics-ghost",
        Severity.WARNING,
        "A row must have no metrics in its root.",
        "metrics is from a version of which only a condition is left (C202). Nothing "
        "reads it: num_turns belongs into evaluation.",
        agentic(b'"input":', b'"metrics": {"num_turns": 4}, "input":'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E125",
        "other-key",
        Severity.WARNING,
        "Objects must have the keys that some version of the format knows.",
        "The shape of 0.2.0 allows any key in the root, and all shapes do so in nested "
        "objects, so that a misspelt optional key is not noticed. What is of your own "
        "belongs into metadata.",
        single(b'"choices"', b'"choises"'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E128",
        "whole-number-as-fraction",
        Severity.WARNING,
        "Counts and indices must be written without a fraction.",
        "JSON Schema takes 3.0 for an integer, and many readers do not. An id of 3.0 "
        "is the text 3.0 in one tool and 3 in another.",
        single(b'"output_tokens": 5', b'"output_tokens": 5.0'),
        SINGLE,
        _shape,
        lint=True,
    ),
)
