"""The rules on samples of lm-evaluation-harness (A1), and on their results (A2)."""

from functools import partial

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

OTHER_COUNT, OTHER_HASH = "A201", "A202"

_file = "samples_sums_2026-01-02T03-04-05.000006.jsonl"

_question = b'"doc_id": 0, "doc": {"q": "1+1?"}'
_request = b'"arguments": {"gen_args_0": {"arg_0": "1+1?", "arg_1": {}}}'
_answer = b'"resps": [["2"]], "filtered_resps": ["2"]'


def _generated(target: bytes, rest: bytes = b"") -> bytes:
    """Return a sample of a generation with this target, and further members."""
    members = (_question, b'"target": ' + target, _request, _answer, rest)
    return b"{%b}\n" % b", ".join(filter(None, members))


def _hashed(doc: bytes, prompt: bytes, target: bytes) -> bytes:
    """Return a sample whose hashes begin with these characters."""
    rest = b'"doc_hash": "%b", "prompt_hash": "%b", "target_hash": "%b"'
    return _generated(b'"2"', rest % (doc + _doc, prompt + _prompt, target + _target))


#: The hash of a task with this sample alone.
_task = b"ef9842764893625000083aac71ca9f13b4e783f118e04dfe3dddd92aee1ecc71"
#: The hashes of the sample without their first character.
_doc = b"12d278766de9d04b689d5f88a4f4bc834e4931a8bc4098e93414f852ec83340"
_prompt = b"fe29f43bcc21dd4b3d74fccdf01313a5addce54fc06ffa92a36aa8c3e90135f"
_target = b"4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
_first = (b"3", b"c", b"d")


def _chosen(target: bytes) -> bytes:
    """Return a sample of two choices with this target."""
    return (
        b'{%b, "target": %b, "arguments": {"gen_args_0": {"arg_0": "1+1?", "arg_1": '
        b'" 2"}, "gen_args_1": {"arg_0": "1+1?", "arg_1": " 3"}}, "resps": [[["-0.5", '
        b'"True"]], [["-1.5", "False"]]], "filtered_resps": [["-0.5", "True"], '
        b'["-1.5", "False"]]}\n' % (_question, target)
    )


def _results(members: bytes) -> bytes:
    """Return the results of a run with the members of one task."""
    return (
        b'{"results": {"sums": {}}, "configs": {"sums": {}}, "versions": {}, '
        b'"n-shot": {}, %b}\n' % members
    )


_rule = partial(Rule, validated_as="lm-eval-samples")
_lint = partial(_rule, lint=True)

RULES = (
    _lint(
        "A121",
        "target-is-no-choice",
        Severity.WARNING,
        "The target of a multiple choice is the index of one of its choices.",
        "The reference is the choice at the index. Without one the sample has no "
        "reference; an index is never taken for the answer.",
        _chosen(b'"7"'),
        _chosen(b'"0"'),
    ),
    _lint(
        "A122",
        "target-is-a-list",
        Severity.NOTE,
        "A target that is the text of a Python list is read as several references.",
        "lm-evaluation-harness writes all targets as texts, lists as Python spells "
        "them. If it is one answer that looks so, give it with --map references.",
        _generated(b"\"['2', 'two']\""),
        _generated(b'"2"'),
    ),
    _lint(
        "A123",
        "metric-is-no-number",
        Severity.NOTE,
        "A metric that is no number is not read as a score.",
        "Metrics such as word_perplexity have a list for each sample, of which the "
        "metric of the task is computed, and perplexity has a log-likelihood. It is "
        "kept in the extra of the record, and counted among the losses; it never "
        "becomes 0, and a mean of log-likelihoods is never called a perplexity.",
        _generated(b'"2"', b'"metrics": ["bits"], "bits": [-0.5, 3]'),
        _generated(b'"2"', b'"metrics": ["bits"], "bits": 0.5'),
    ),
    _lint(
        "A111",
        "other-document",
        Severity.WARNING,
        "doc_hash is the SHA-256 of the document.",
        "Of another document the metrics of the row are not true.",
        _hashed(b"0", _first[1], _first[2]),
        _hashed(*_first),
    ),
    _lint(
        "A112",
        "other-prompt",
        Severity.WARNING,
        "prompt_hash is the SHA-256 of the first context.",
        "The model was asked something else than the row says.",
        _hashed(_first[0], b"0", _first[2]),
        _hashed(*_first),
    ),
    _lint(
        "A113",
        "other-target",
        Severity.WARNING,
        "target_hash is the SHA-256 of the target.",
        "The metrics of the row were computed with another target.",
        _hashed(_first[0], _first[1], b"0"),
        _hashed(*_first),
    ),
    _rule(
        OTHER_COUNT,
        "other-document-count",
        Severity.ERROR,
        "Samples are of all documents with which a task of the results was evaluated.",
        "The results say in n-samples how many documents that were, and samples have "
        "as many different doc_id. Scores of a part of the samples are not those of "
        "the task. The task is in the name of the file, between the first and the last "
        "underscore.",
        _generated(b'"2"'),
        _generated(b'"2"') + _generated(b'"2"').replace(b'"doc_id": 0', b'"doc_id": 1'),
        file_name=_file,
        companion=_results(b'"n-samples": {"sums": {"original": 2, "effective": 2}}'),
    ),
    _rule(
        OTHER_HASH,
        "other-task-hash",
        Severity.ERROR,
        "The hashes of all rows of a task give the task hash of the results.",
        "It is the SHA-256 of the document, prompt and target hashes of all rows, "
        "joined: so samples of another run are known, and rows that are missing.",
        _hashed(*_first) * 2,
        _hashed(*_first),
        file_name=_file,
        companion=_results(b'"task_hashes": {"sums": "%b"}' % _task),
    ),
)
