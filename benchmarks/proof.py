"""Compare scores with those of other packages, on 10,000 records of eleven kinds.

Every score of an answer, of each kind of text and of all together must be equal to
within 10^-9. It needs the extras score, test and test-proof.
"""

import argparse
import importlib
import importlib.metadata
import itertools
import json
import math
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
for _folder in ("benchmarks", "tests/evaluation/metrics/helpers"):
    sys.path.append(str(ROOT / _folder))

from report.tables import table  # noqa: E402 - found by the path above

from harpia_formats import score_answers  # noqa: E402 - it sorts behind `report`
from harpia_formats.evaluation.metrics import METRICS  # noqa: E402 - it sorts behind `report`
from text_kinds import KINDS, SEED, text_pairs  # noqa: E402 - found by the path above

TOLERANCE = 1e-9
ROUGE = ("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum")
MARKDOWN = """\
# Scores compared with those of other packages

Written by `benchmarks/proof.py`, on {count:,} records of eleven kinds of text
({kinds}).
A record has one to three references; a tenth of the answers is empty or equal
to a reference. Each row is the largest difference of any score: of an answer, of all
answers of a kind of text, and of all together. For metrics of labels and of questions
the records are others, of the same kinds of text.

{table}

{verdict} Versions: {versions}.

## What has no other package

{rest}

To repeat it, with the extras `score`, `test` and `test-proof`:
`python benchmarks/proof.py --records {count}`
"""
#: The folder of the tests of metrics.
_TESTS = "tests/evaluation/metrics"
#: What is compared with a metric that no package computes.
OTHERS = {
    "accuracy": "another name of em",
    "f1": f"SQuAD's rules step by step, in `{_TESTS}/test_proofs.py`",
    "f1-binary": f"scikit-learn's, in `{_TESTS}/test_label_proofs.py`",
    "maj": f"all sets of answers, in `{_TESTS}/test_maj_at_k.py`",
    "rouge": "its five scores are those above",
    "document-map": f"Haystack's evaluator, in `{_TESTS}/test_documents.py`",
    "document-mrr": f"Haystack's evaluator, in `{_TESTS}/test_documents.py`",
    "document-ndcg": f"Haystack's evaluator, in `{_TESTS}/test_documents.py`",
    "document-recall": f"Haystack's evaluator, in `{_TESTS}/test_documents.py`",
    "fuzzy-match": f"NVIDIA's rules, in `{_TESTS}/test_fuzzy_match.py`",
    "string-check": f"NVIDIA's rules, in `{_TESTS}/test_known_scores.py`",
    "number-check": f"NVIDIA's rules, in `{_TESTS}/test_known_scores.py`",
    "inspect-choice": f"Inspect's scorer, in `{_TESTS}/test_known_scores.py`",
    "inspect-exact": f"Inspect's scorer, in `{_TESTS}/test_known_scores.py`",
    "inspect-f1": f"Inspect's scorer, in `{_TESTS}/test_known_scores.py`",
    "inspect-match": f"Inspect's scorer, in `{_TESTS}/test_known_scores.py`",
    "lm-eval-acc": f"lm-eval's, in `{_TESTS}/test_lm_eval_acc.py`",
    "lm-eval-exact-match": f"lm-eval's: `{_TESTS}/test_lm_eval_exact_match.py`",
    "number-match": f"ours: `{_TESTS}/test_number_match.py`",
    "multiple-choice": f"ours: `{_TESTS}/test_multiple_choice.py`",
    "length": f"a count, in `{_TESTS}/test_length.py`",
    "relative-length": f"a quotient of counts, in `{_TESTS}/test_length.py`",
}

Answer = tuple[str, list[str]]
#: The score of one answer, and of several; None where the package has none.
Each = Callable[[str, list[str]], float]
Whole = Callable[[Sequence[Answer]], float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric with parameters, and what another package computes."""

    metric: str
    #: The distribution that is compared with.
    package: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: The score of an answer; that of several is the mean.
    each: Each | None = None
    #: The score of several answers, if it is no mean.
    whole: Whole | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The largest difference of a comparison, and how many scores were compared."""

    comparison: Comparison
    difference: float
    scores: int


def rouge(name: str, answer: str, references: list[str], *, stemmer: bool) -> float:
    """Return a score of rouge-score, of the best reference."""
    return float(_rouge_scores(answer, tuple(references), stemmer)[name].fmeasure)


@lru_cache(maxsize=1 << 16)
def _rouge_scores(answer: str, references: tuple[str, ...], stemmer: bool) -> Any:  # noqa: FBT001 - a key of a cache
    return _rouge_scorer(stemmer).score_multi(references, answer)


@cache
def _rouge_scorer(stemmer: bool) -> Any:  # noqa: FBT001 - a key of a cache
    module = importlib.import_module("rouge_score.rouge_scorer")
    return module.RougeScorer(list(ROUGE), use_stemmer=stemmer)


def corpus(theirs: Any, answers: Sequence[Answer]) -> float:
    """Return a score of sacrebleu over answers with several references."""
    most = max(len(references) for _, references in answers)
    streams = [
        [many[place] if place < len(many) else None for _, many in answers]
        for place in range(most)
    ]
    return float(theirs.corpus_score([one for one, _ in answers], streams).score)


def nltk_bleu(answer: str, references: list[str]) -> float:
    """Return NLTK's BLEU of an answer, smoothed by its method 1."""
    module = importlib.import_module("nltk.translate.bleu_score")
    smoothing = module.SmoothingFunction().method1
    tokens = [one.split() for one in references]
    return float(
        module.sentence_bleu(tokens, answer.split(), smoothing_function=smoothing)
    )


def error_rate(name: str, answers: Sequence[Answer]) -> float:
    """Return the rate of jiwer over answers with one reference."""
    jiwer = importlib.import_module("jiwer")
    last = {
        "wer": ("RemoveMultipleSpaces", "Strip", "ReduceToListOfListOfWords"),
        "cer": ("Strip", "ReduceToListOfListOfChars"),
    }[name]
    change = jiwer.Compose([getattr(jiwer, step)() for step in last])
    texts = [references[0] for _, references in answers], [one for one, _ in answers]
    changes = {"reference_transform": change, "hypothesis_transform": change}
    return float(getattr(jiwer, name)(*texts, **changes))


def same_text(answers: Sequence[Answer]) -> float:
    """Return the accuracy of scikit-learn, of answers equal to the first reference."""
    theirs = importlib.import_module("sklearn.metrics").accuracy_score
    references = [many[0] for _, many in answers]
    return float(theirs(references, [one for one, _ in answers]))


def exact_match(answers: Sequence[Answer]) -> float:
    """Return the exact match of Haystack, of the first reference."""
    module = importlib.import_module("haystack.components.evaluators")
    found = module.AnswerExactMatchEvaluator().run(
        ground_truth_answers=[many[0] for _, many in answers],
        predicted_answers=[one for one, _ in answers],
    )
    return float(found["score"])


def labels(name: str, answers: Sequence[Answer], **options: Any) -> float:
    """Return a score of scikit-learn, of labels without case and outer white space."""
    theirs = getattr(importlib.import_module("sklearn.metrics"), name)
    columns = (
        [many[0].strip().lower() for _, many in answers],
        [one.strip().lower() for one, _ in answers],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(theirs(*columns, **options))


def pass_at(k: int, answers: Sequence[Answer]) -> float:
    """Return pass@k as the paper's own code computes it, with numpy."""
    np = importlib.import_module("numpy")
    found = []
    for start in range(0, len(answers), PER_QUESTION):
        mine = answers[start : start + PER_QUESTION]
        wrong = sum(one != many[0] for one, many in mine)
        several = 1 - k / np.arange(wrong + 1, len(mine) + 1)
        found.append(1.0 - float(np.prod(several)) if wrong >= k else 1.0)
    return math.fsum(found) / len(found)


#: Answers to a question, in the records of pass@k.
PER_QUESTION = 8


def text_comparisons() -> Iterator[Comparison]:
    """Yield the comparisons on answers and references of texts."""
    sacrebleu = importlib.import_module("sacrebleu")
    for name, stemmer in itertools.product(ROUGE, (False, True)):
        yield Comparison(
            name,
            "rouge-score",
            {"stemmer": stemmer},
            each=partial(rouge, name, stemmer=stemmer),
        )
    sentence = sacrebleu.BLEU(effective_order=True)
    yield Comparison(
        "sentence-bleu",
        "sacrebleu",
        {"references": "all", "scale": "0-100"},
        each=lambda answer, many: float(sentence.sentence_score(answer, many).score),
    )
    pooled: list[tuple[str, dict[str, Any], Any]] = [
        ("bleu", {}, sacrebleu.BLEU()),
        ("bleu", {"lowercase": True}, sacrebleu.BLEU(lowercase=True)),
        ("bleu", {"tokenizer": "zh"}, sacrebleu.BLEU(tokenize="zh")),
        ("bleu", {"tokenizer": "intl"}, sacrebleu.BLEU(tokenize="intl")),
        ("bleu", {"tokenizer": "char"}, sacrebleu.BLEU(tokenize="char")),
        ("chrf", {}, sacrebleu.CHRF()),
        ("chrf", {"word_order": 2}, sacrebleu.CHRF(word_order=2)),
        ("ter", {}, sacrebleu.TER()),
        ("ter", {"normalized": True}, sacrebleu.TER(normalized=True)),
    ]
    for name, parameters, theirs in pooled:
        yield Comparison(name, "sacrebleu", parameters, whole=partial(corpus, theirs))
    yield Comparison(
        "nltk-bleu",
        "nltk",
        {"smoothing_function": "method1", "references": "clip"},
        each=nltk_bleu,
    )
    first = {"references": "first"}
    for name in ("wer", "cer"):
        yield Comparison(name, "jiwer", first, whole=partial(error_rate, name))
    same = {"normalisation": "none", **first}
    yield Comparison("em", "scikit-learn", same, whole=same_text)
    yield Comparison("em", "haystack-ai", same, whole=exact_match)


def label_comparisons() -> Iterator[Comparison]:
    """Yield the comparisons on labels."""
    macro = {"average": "macro", "zero_division": 0}
    for name, function, options in (
        ("precision", "precision_score", macro),
        ("recall", "recall_score", macro),
        ("f1-macro", "f1_score", {"average": "macro"}),
        ("f1-micro", "f1_score", {"average": "micro"}),
        ("f1-weighted", "f1_score", {"average": "weighted"}),
        ("mcc", "matthews_corrcoef", {}),
        ("kappa", "cohen_kappa_score", {}),
    ):
        given = options if name in {"precision", "recall"} else {}
        whole = partial(labels, function, **options)
        yield Comparison(name, "scikit-learn", given, whole=whole)


def question_comparisons() -> Iterator[Comparison]:
    """Yield the comparisons on several answers to each question."""
    correct = {"correct": "em", "correct.normalisation": "none"}
    for k in (1, 2, 5, PER_QUESTION):
        yield Comparison(f"pass@{k}", "numpy", correct, whole=partial(pass_at, k))


def text_records(count: int) -> Iterator[tuple[str, str, Answer]]:
    """Yield the kind, the id, and an answer with its references."""
    kinds = itertools.cycle(KINDS)
    for number, (answer, references) in enumerate(text_pairs(count)):
        yield next(kinds), str(number), (answer, references)


def label_records(count: int) -> Iterator[tuple[str, str, Answer]]:
    """Yield records whose answers and references are labels."""
    chance = random.Random(SEED)
    for number, kind in zip(range(count), itertools.cycle(KINDS), strict=False):
        names = [f"{word} {at % 3}" for at, word in enumerate(KINDS[kind][0])][:5]
        reference = names[min(int(chance.expovariate(0.7)), len(names) - 1)]
        answer = reference if chance.random() < 0.6 else chance.choice(names)
        yield kind, str(number), (chance.choice((answer, f" {answer}\n")), [reference])


def question_records(count: int) -> Iterator[tuple[str, str, Answer]]:
    """Yield records of several answers to each question, of which some are right."""
    chance = random.Random(SEED)
    kinds = itertools.cycle(KINDS)
    for number in range(count // PER_QUESTION):
        kind, ease = next(kinds), chance.random()
        words = KINDS[kind][0]
        for _ in range(PER_QUESTION):
            answer = words[0] if chance.random() < ease else chance.choice(words[1:])
            yield kind, f"q{number}", (answer, [words[0]])


def compared(
    comparisons: Sequence[Comparison], records: Sequence[tuple[str, str, Answer]]
) -> list[Found]:
    """Return the largest difference of each comparison over all records."""
    names = [f"c{place}" for place in range(len(comparisons))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.jsonl")
        path.write_text("".join(map(_line, records)), encoding="utf-8")
        run = score_answers(
            path,
            metrics=[
                f"{name}={one.metric}"
                for name, one in zip(names, comparisons, strict=True)
            ],
            parameters={
                f"{name}.{key}": value
                for name, one in zip(names, comparisons, strict=True)
                for key, value in one.parameters.items()
            },
            by=["category"],
            replicates=0,
        )
        rows = [row.scores for row in run]
        scores = run.scores
    wholes = {"": scores.total} | {one.key["category"]: one for one in scores.groups}
    found = []
    for name, comparison in zip(names, comparisons, strict=True):
        pairs: list[tuple[float | None, float]] = []
        own: list[float] = []
        if comparison.each is not None:
            own = [comparison.each(*answer) for _, _, answer in records]
            pairs += [(row[name], one) for row, one in zip(rows, own, strict=True)]
        for kind, whole in wholes.items():
            places = [at for at, one in enumerate(records) if kind in {"", one[0]}]
            if comparison.whole is not None:
                expected = comparison.whole([records[at][2] for at in places])
            else:
                expected = math.fsum(own[at] for at in places) / len(places)
            pairs.append((whole[name].value, expected))
        difference = max(
            math.inf if mine is None else abs(mine - other) for mine, other in pairs
        )
        found.append(Found(comparison, difference, len(pairs)))
    return found


def _line(record: tuple[str, str, Answer]) -> str:
    kind, id_, (answer, references) = record
    row = {
        "id": id_,
        "prompt": f"question {id_}",
        "references": references,
        "category": kind,
        "outputs": [{"text": answer}],
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def proven(count: int) -> list[Found]:
    """Return all comparisons on so many records each."""
    return [
        *compared(list(text_comparisons()), list(text_records(count))),
        *compared(list(label_comparisons()), list(label_records(count))),
        *compared(list(question_comparisons()), list(question_records(count))),
    ]


def unnamed() -> set[str]:
    """Return the metrics that are neither compared nor named as having no package."""
    compared_with = [*text_comparisons(), *label_comparisons(), *question_comparisons()]
    names = {one.metric.partition("@")[0] for one in compared_with} | {*OTHERS}
    return {name for name in METRICS if name.partition("@")[0] not in names}


def is_proven(found: Sequence[Found]) -> bool:
    """Tell whether no difference is larger than the tolerance."""
    return all(one.difference <= TOLERANCE for one in found)


def document(found: Sequence[Found], count: int) -> str:
    """Return the comparisons as Markdown."""
    rows = [
        [
            f"`{one.comparison.metric}`",
            json.dumps(one.comparison.parameters) if one.comparison.parameters else "",
            one.comparison.package,
            f"{one.scores:,}",
            f"{one.difference:.1e}" if one.difference else "0",
        ]
        for one in found
    ]
    heads = ["metric", "parameters", "package", "scores", "largest difference"]
    packages = sorted({one.comparison.package for one in found})
    return MARKDOWN.format(
        count=count,
        kinds=", ".join(KINDS),
        table=table(heads, rows),
        verdict="Every difference is at most 10^-9."
        if is_proven(found)
        else "Some differences are larger than 10^-9.",
        versions=", ".join(
            f"{name} {importlib.metadata.version(name)}" for name in packages
        ),
        rest="\n".join(f"- `{name}`: {what}" for name, what in OTHERS.items()),
    )


def main() -> int:
    """Compare, write the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    output = ROOT / "docs" / "benchmarks" / "proof.md"
    parser.add_argument("--output", type=Path, default=output)
    arguments = parser.parse_args()
    found = proven(arguments.records)
    text = document(found, arguments.records)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return int(not is_proven(found))


if __name__ == "__main__":
    sys.exit(main())
