"""The rules K1 (columns), K2 (runs), K3 (definitions) and K4 (results) of Haystack."""

from harpia_converters.haystack.definition_rules import DEFINITION_RULES
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_run = (
    b'{"run_name": "a", "inputs": {"questions": ["2+2?", "3+3?"], '
    b'"answers": ["4", "6"]}, "results": {"match": {"score": 1.0, '
    b'"individual_scores": [1, 1]}}}\n'
)
_results = (
    b'{"results": [{"statements": ["a", "b"], "statement_scores": [1, 0], '
    b'"score": 0.5}, {"statements": ["c"], "statement_scores": [1], "score": 1.0}], '
    b'"meta": [{"model": "m"}, {"model": "m"}], "score": 0.75, '
    b'"individual_scores": [0.5, 1.0]}\n'
)
_relevant = (
    b'{"results": [{"relevant_statements": ["a"], "score": 1}], "score": 1, '
    b'"individual_scores": [1]}\n'
)

_column_rules = (
    Rule(
        "K101",
        "unequal-columns",
        Severity.ERROR,
        "The columns of an evaluator must have one length.",
        "Row n is the nth item of each column, so Haystack refuses to run an evaluator "
        "on columns of which one is longer or shorter. Give one item for each row.",
        b'{"questions": ["2+2?", "3+3?"], "responses": ["4"]}\n',
        b'{"questions": ["2+2?", "3+3?"], "responses": ["4", "6"]}\n',
        "haystack",
    ),
    Rule(
        "K102",
        "unexpected-column-item",
        Severity.WARNING,
        "An item of a well-known column should be of the type that evaluators expect.",
        "questions, responses, predicted_answers and ground_truth_answers hold texts, "
        "contexts lists of texts, and ground_truth_documents and retrieved_documents "
        "lists of documents. Haystack does not check it: an item of another type "
        "fails later, or is judged as text that it is not.",
        b'{"questions": ["2+2?"], "contexts": ["Numbers."]}\n',
        b'{"questions": ["2+2?"], "contexts": [["Numbers."]]}\n',
        "haystack",
    ),
    Rule(
        "K103",
        "column-spelling",
        Severity.WARNING,
        "A column should not be named almost like one that evaluators expect.",
        "Haystack passes columns by name, and most evaluators take only the names that "
        "they declare, which are in the plural.",
        b'{"question": ["2+2?"], "responses": ["4"]}\n',
        b'{"questions": ["2+2?"], "responses": ["4"]}\n',
        "haystack",
        lint=True,
    ),
)
_run_rules = (
    Rule(
        "K201",
        "unequal-inputs",
        Severity.ERROR,
        "The inputs of a run must have one length.",
        "EvaluationRunResult refuses others. The inputs that are named differ from "
        "what most have.",
        _run.replace(b'["4", "6"]', b'["4"]'),
        _run,
        "haystack-run",
    ),
    Rule(
        "K202",
        "unequal-scores",
        Severity.ERROR,
        "A metric must have as many individual scores as an input has values.",
        "EvaluationRunResult refuses others. A row that could not be scored has a "
        "score too, which is null.",
        _run.replace(b"[1, 1]", b"[1]"),
        _run,
        "haystack-run",
    ),
    Rule(
        "K203",
        "metric-named-like-input",
        Severity.WARNING,
        "A metric should not be named like an input.",
        "In a detailed report both are columns, and the scores overwrite the input "
        "without a warning. Rename one of them.",
        _run.replace(b'"match"', b'"answers"'),
        _run,
        "haystack-run",
    ),
    Rule(
        "K204",
        "input-as-text",
        Severity.WARNING,
        "An input should be a list and not a text.",
        "EvaluationRunResult only asks for its length, and so takes each character "
        "for a row.",
        _run.replace(b'["4", "6"]', b'"46"'),
        _run,
        "haystack-run",
    ),
    Rule(
        "K205",
        "run-score-not-mean",
        Severity.NOTE,
        "The score of a metric should be the mean of its individual scores.",
        "It is for all of Haystack's own evaluators. Rows without a score, which are "
        "null, are left out.",
        _run.replace(b"1.0", b"0.5"),
        _run,
        "haystack-run",
        lint=True,
    ),
)
_result_rules = (
    Rule(
        "K401",
        "unmatched-meta",
        Severity.NOTE,
        "meta has one entry for each result where it can be matched with them.",
        "A row that failed has a result, which is null, but no entry in meta. Nothing "
        "says which row an entry is of, so it cannot be converted with the row.",
        _results.replace(b', {"model": "m"}], "score"', b'], "score"'),
        _results,
        "haystack-results",
    ),
    Rule(
        "K402",
        "differing-results",
        Severity.WARNING,
        "The results of one evaluator should have the same keys.",
        "Haystack asks a judge for the declared outputs and keeps every other key of "
        "its reply. The results listed here have other keys than most.",
        b'{"results": [{"score": 1}, {"score": 0}, {"score": 1, "why": "rude"}]}\n',
        b'{"results": [{"score": 1}, {"score": 0}, {"score": 1}]}\n',
        "haystack-results",
    ),
    Rule(
        "K403",
        "unmatched-statement-scores",
        Severity.WARNING,
        "Each statement should have one score.",
        "Haystack does not check what a judge answers, and takes the mean of the "
        "scores that are there.",
        _results.replace(b'"statement_scores": [1, 0]', b'"statement_scores": [1]'),
        _results,
        "haystack-results",
    ),
    Rule(
        "K404",
        "unmatched-individual-scores",
        Severity.WARNING,
        "An evaluator should give one individual score for each result.",
        "Haystack's own evaluators always do, so the file was changed or put together "
        "from two.",
        _results.replace(b"[0.5, 1.0]", b"[0.5]"),
        _results,
        "haystack-results",
    ),
    Rule(
        "K405",
        "score-not-mean",
        Severity.NOTE,
        "The score of an evaluator should be the mean of its individual scores.",
        "It is for all of Haystack's own evaluators. Rows without a score, which are "
        "null, are left out.",
        _results.replace(b"0.75", b"0.5"),
        _results,
        "haystack-results",
        lint=True,
    ),
    Rule(
        "K406",
        "row-score",
        Severity.WARNING,
        "The score of a row should be its individual score, and the mean of the scores "
        "of its statements.",
        "Haystack computes both at once, so the file was changed or put together from "
        "two.",
        _results.replace(b"[0.5, 1.0]", b"[1.0, 0.5]").replace(
            b'{"statements": ["c"], "statement_scores": [1], "score": 1.0}', b"null"
        ),
        _results,
        "haystack-results",
        lint=True,
    ),
    Rule(
        "K407",
        "relevant-statements-form",
        Severity.WARNING,
        "The relevant statements of a row should be a list.",
        "Haystack does not check what the judge answers, and gives the score 1 for "
        "everything that is not empty, such as the text no.",
        _relevant.replace(b'["a"]', b'"no"'),
        _relevant,
        "haystack-results",
        lint=True,
    ),
    Rule(
        "K408",
        "statement-score",
        Severity.NOTE,
        "The score of a statement should be 0 or 1.",
        "Haystack asks the judge for 0 or 1 and does not check what it answers.",
        _results.replace(b'[1], "score": 1.0', b'[0.5], "score": 0.5')
        .replace(b"0.75", b"0.5")
        .replace(b"[0.5, 1.0]", b"[0.5, 0.5]"),
        _results,
        "haystack-results",
        lint=True,
    ),
)

RULES = (*_column_rules, *_run_rules, *DEFINITION_RULES, *_result_rules)
