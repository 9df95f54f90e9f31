"""fuzzy-match: NeMo's definition, with all that it takes for a match."""

import re
import string
import unicodedata
from pathlib import Path
from typing import Any

import harpia_formats
from json_lines import jsonl
from metric_scores import values_of_pairs
from text_kinds import text_pairs


def test_it_is_the_definition_of_nemo() -> None:
    """Texts of eleven kinds match as NVIDIA's rules say, step by step."""

    def normal(text: str) -> str:
        lowered = unicodedata.normalize("NFKD", text).lower()
        bare = re.sub(r"\b(a|an|the)\b", " ", lowered)
        kept = (each for each in bare if each not in string.punctuation)
        return " ".join("".join(kept).split())

    pairs = list(text_pairs(1_100, 4))
    scores = values_of_pairs("fuzzy-match", pairs)
    for (answer, references), found in zip(pairs, scores, strict=True):
        mine, others = normal(answer), [normal(each) for each in references]
        expected = any(other in mine or mine in other for other in others)
        assert found == (expected,), (answer, references)


def test_the_profile_takes_the_correct_answers_of_the_metadata(tmp_path: Path) -> None:
    """Where a record has them they count in the place of its reference, as in NeMo."""
    metadata: list[Any] = [{"correct_answers": ["b", "c"]}, {}, {"correct_answers": []}]
    rows = [
        {"metadata": each, "references": ["x"], "outputs": [{"text": "C!"}]}
        for each in (*metadata, {"correct_answers": "c"})
    ]
    file = tmp_path / "records.jsonl"
    file.write_bytes(jsonl(*rows))

    found = harpia_formats.score(
        file, from_="record", profile="nemo-evaluator", missing="skip"
    )

    fuzzy, exact = found["fuzzy_match"], found["exact_match"]
    assert (fuzzy.value, fuzzy.count, fuzzy.unscored) == (1 / 3, 3, 1)
    assert (exact.value, exact.count) == (0, 4)
    assert "|targets:correct_answers|refs:first" in fuzzy.signature
    assert "no list of texts" in found.problems[0].message
