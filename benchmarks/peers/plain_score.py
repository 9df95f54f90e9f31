"""Score the pairs of a file with sacrebleu, rouge-score and a SQuAD function.

Usage: plain_score.py FILE METRIC...; a line of FILE is a record with a reference and
answers. The metrics are em, f1, bleu, rouge and pass@5; the scores are printed as JSON.
"""

import json
import re
import string
import sys
from collections import Counter
from pathlib import Path

ROUGE = ("rouge1", "rouge2", "rouge3", "rougeL")
K = 5
PUNCTUATION = set(string.punctuation)


def normalized(text: str) -> str:
    """Return a text as SQuAD compares it."""
    text = "".join(
        character for character in text.lower() if character not in PUNCTUATION
    )
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def em(answer: str, reference: str) -> float:
    """Return 1 if two texts are equal after SQuAD's normalisation, otherwise 0."""
    return float(normalized(answer) == normalized(reference))


def f1(answer: str, reference: str) -> float:
    """Return the F1 of the words that two texts share, as SQuAD v2 computes it."""
    mine, other = normalized(answer).split(), normalized(reference).split()
    if not mine or not other:
        return float(mine == other)
    same = sum((Counter(mine) & Counter(other)).values())
    if not same:
        return 0.0
    precision, recall = same / len(mine), same / len(other)
    return 2 * precision * recall / (precision + recall)


def pass_at_5(right: list[float], answers: int) -> float:
    """Return the mean pass@5 of questions with `answers` answers each.

    It is computed as in the paper: Chen and others, Evaluating Large Language Models
    Trained on Code (2021).
    """
    import numpy as np  # noqa: PLC0415 - only pass@5 needs it

    found = []
    for start in range(0, len(right), answers):
        wrong = answers - round(sum(right[start : start + answers]))
        none = np.prod(1 - K / np.arange(wrong + 1, answers + 1)) if wrong >= K else 0
        found.append(1 - float(none))
    return sum(found) / len(found)


def main(path: str, *names: str) -> None:
    """Print the scores of the answers of `path` by the metrics called `names`."""
    with Path(path).open("rb") as lines:
        rows = [json.loads(line) for line in lines]
    answers = [output["text"] for row in rows for output in row["outputs"]]
    references = [row["references"][0] for row in rows for _ in row["outputs"]]
    found = {}
    for name, score in (("em", em), ("f1", f1)):
        if name in names:
            own = list(map(score, answers, references))
            found[name] = sum(own) / len(own)
            if name == "em" and "pass@5" in names:
                found["pass@5"] = pass_at_5(own, len(rows[0]["outputs"]))
    if "bleu" in names:
        from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - only BLEU needs it

        found["bleu"] = BLEU().corpus_score(answers, [references]).score
    if "rouge" in names:
        from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - only ROUGE needs it

        scorer = RougeScorer(list(ROUGE))
        scores = list(map(scorer.score, references, answers))
        for name in ROUGE:
            found[name] = sum(score[name].fmeasure for score in scores) / len(scores)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
