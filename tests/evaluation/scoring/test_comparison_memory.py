"""The memory of comparisons, which must not grow with labels or with pairs."""

import gc
import random
import tracemalloc
import warnings
from array import array
from contextlib import closing
from functools import partial
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats import compare_scores
from harpia_formats.conversion.mapping.questions import digest_of
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring import number_stores, system_answers
from harpia_formats.evaluation.scoring.agreement import (
    LabelNumbers,
    LabelPairs,
    RaterLabels,
)
from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison
from harpia_formats.evaluation.scoring.measures.answer_sums import AnswerStore
from harpia_formats.evaluation.scoring.measures.outcomes import (
    NO_SUCH_SCORE,
    GroupAnswer,
    computed_metric,
)
from harpia_formats.evaluation.scoring.measures.profiles import DEFAULT, requests_named
from harpia_formats.evaluation.scoring.measures.question_scores import (
    RowStore,
    add_moments,
    record_rows,
)
from harpia_formats.evaluation.scoring.number_stores import (
    LabelRows,
    SpooledColumns,
    SpooledRows,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance import paired_differences
from harpia_formats.evaluation.scoring.significance.intervals import (
    QuestionMoments,
)
from harpia_formats.evaluation.scoring.significance.paired_differences import (
    compare_pairs,
    replicated_pairs,
)
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    MetricAnswers,
    PairedTest,
    QuestionSums,
)
from harpia_formats.plugins import SourceError
from json_lines import jsonl

np = pytest.importorskip("numpy", reason="the extra score is not installed")

#: Bytes that may be held for an answer.
MOST = 60


@pytest.mark.parametrize("held", [0, 3 * 5000, 10**9])
def test_parts_of_stored_numbers_are_those_that_were_given(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the same from memory and from a temporary file."""
    monkeypatch.setattr(number_stores, "HELD", held)
    rows = np.random.default_rng(2).random((5000, 3))
    columns = [np.arange(5000, dtype=np.int32) * sign for sign in (1, -1, 3, 5)]
    stored, whole = SpooledRows(rows), SpooledColumns(5000)
    for column in columns:
        whole.add(column)
    for part in (slice(0, 7), slice(4090, 4100), slice(4990, 5000), slice(0, 5000)):
        assert (stored.part(part) == rows[part]).all()
        assert (whole.part(part) == np.stack(columns, axis=1)[part]).all()


def test_numbers_beyond_those_of_32_bits_are_stored_without_a_warning() -> None:
    """A stored score may be any number."""
    rows = np.array([[1e300, 1.0]])

    with warnings.catch_warnings(action="error"):
        assert SpooledRows(rows).part(slice(0, 1)).tolist() == rows.tolist()


def test_statistics_of_labels_take_few_bytes_an_answer() -> None:
    """Not three numbers for each label: those of 100 labels were 1,204 bytes."""
    count, width = 20_000, 301
    kinds = [[float(at == kind) for at in range(width)] for kind in range(100)]
    numbers = np.arange(count, dtype=np.uint32)
    chosen = np.array(array("B", [at % 100 for at in range(count)]))
    tracemalloc.start()
    rows = LabelRows(chosen, numbers, iter(kinds), width)
    found = rows.part(slice(count - 3, count))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.tolist() == [kinds[97], kinds[98], kinds[99]]
    assert peak / count < MOST


def test_stored_scores_take_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in temporary files: lists by question took 150 bytes each."""
    systems, questions = 20, 200
    scores = [{"metric": "em", "value": 0.5, "signature": "em|a"}]
    outputs = [{"model": f"m{at}", "scores": scores} for at in range(systems)]
    data = jsonl(
        *({"id": at, "prompt": f"{at}", "outputs": outputs} for at in range(questions))
    )
    monkeypatch.setattr(system_answers, "_HELD", 0)
    held = []
    for one in (data[: data.index(b"\n") + 1], data):
        comparison = ScoreComparison([one], ScoreOptions(stored=True))
        tracemalloc.start()
        assert list(comparison) == []
        gc.collect()  # runs that have ended refer to themselves
        held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()

    assert (held[1] - held[0]) / (systems * questions) < MOST


def answers_of(systems: int, questions: int, missing: float = 0.0) -> MetricAnswers:
    """Return random answers of as many systems, by a mean of scores from 0 to 1."""
    chance = np.random.default_rng(5)
    sums = [
        QuestionSums.of_answers(
            [
                [] if lacks else [(score, 1.0)]
                for score, lacks in zip(
                    chance.random(questions).tolist(),
                    chance.random(questions) < missing,
                    strict=True,
                )
            ],
            2,
        )
        for _ in range(systems)
    ]
    keys = [digest_of(f"{at}") for at in range(questions)]
    return MetricAnswers(means(1), 1, 1.0, keys, sums)


@pytest.mark.parametrize("name", ["permutation", "bootstrap"])
def test_digits_do_not_depend_on_the_pairs_that_are_compared_together(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs with other questions are replicated in several parts if memory is short."""
    answers = answers_of(5, 60, missing=0.1)
    pairs = list(combinations(range(5), 2))
    test = PairedTest(name, 500, 1, 0.95)
    together = compare_pairs(answers, pairs, test)
    monkeypatch.setattr(paired_differences, "_KEPT", 1)

    assert compare_pairs(answers, pairs, test) == together
    assert [compare_pairs(answers, [pair], test)[0] for pair in pairs] == together


def test_replicates_of_many_pairs_take_the_memory_of_their_systems() -> None:
    """Those of 40 systems are held, and not the differences of their 780 pairs."""
    answers = answers_of(40, 20)
    pairs = list(combinations(range(40), 2))
    paired = [answers.pair(*pair) for pair in pairs]
    test = PairedTest("bootstrap", 1000, 1, 0.95)
    tracemalloc.start()
    for _ in replicated_pairs(paired, test):
        continue
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < len(pairs) * 1000 * 8 / 2


def test_places_of_questions_of_few_bytes_are_multiplied_as_whole_numbers() -> None:
    """Numbers of 32 bits would overflow with many questions and models."""
    numbers = LabelNumbers({"yes": 0}, {("a", 0): 0, ("b", 0): 1, ("c", 0): 2})
    one, other = (
        RaterLabels(
            name,
            "extra.label",
            frozenset(),
            numbers,
            units=array("q", [0, 1]),
            labels=array("q", [0, 0]),
            answers=array("q", [0, 2]),
        )
        for name in ("one", "other")
    )
    places = np.array([0, 2**31 + 1], dtype=np.uint32)

    pairs = LabelPairs((one, other), places, are_records=False)
    both = LabelPair("yes", "yes")
    assert list(pairs) == [(0, both), (2**31 + 1, both)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("module", "name"), [(system_answers, "_HELD"), (number_stores, "HELD")]
)
def test_full_disk_ends_a_comparison_with_its_reason(
    module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so while answers are scored, and while they are compared."""

    def full() -> IO[bytes]:
        return Path("/dev/full").open("w+b")

    systems = [
        [
            {"prompt": f"{at}", "references": ["a"], "outputs": [{"text": text}]}
            for at in range(20)
        ]
        for text in "ab"
    ]
    monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr("tempfile.TemporaryFile", full)

    with pytest.raises(SourceError, match="temporary file: no space left on device"):
        compare_scores(*systems, metrics=("em",))


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2), st.integers(0, 3))),
    st.randoms(),
)
def test_stored_questions_are_those_in_memory(
    entries: list[tuple[int, int, int]], chance: random.Random
) -> None:
    """A temporary file, groups and the order change none of the sums."""
    wholes = [{0}, {1}, {2}, {0, 1, 2}]
    expected, found = ([QuestionMoments() for _ in wholes] for _ in range(2))
    for moments, held in ((expected, 10**6), (found, 100)):
        with closing(RowStore("1I1d", partial(record_rows, [1]), held)) as store:
            for number, group, right in entries:
                outcomes = ((right / 3, 1.0), (right / 3,)), NO_SUCH_SCORE
                answers = [
                    GroupAnswer(0, digest_of(str(number)), (one,)) for one in outcomes
                ]
                store.add_answers(answers, group)
            store.read(wholes, [partial(add_moments, [one]) for one in moments])
        chance.shuffle(entries)

    assert found == expected
    assert found[-1].questions == len({number for number, *_ in entries})
    assert sum(moments.answers for moments in found) == 2 * len(entries)


def test_entries_in_a_file_give_the_same_scores() -> None:
    """Whether answers are held in memory or in a file changes nothing."""
    requests, _ = requests_named(DEFAULT, ["pass@2"])
    metrics = [computed_metric(request) for request in requests]
    options = ScoreOptions()
    stores = [AnswerStore(metrics, options, held) for held in (10**6, 100)]
    for number in range(200):
        outcome = ((float(number % 3 == 0), 1.0), (None,))
        answer = GroupAnswer(number, digest_of(f"{number % 40}"), (outcome,))
        for store in stores:
            store.add_answers([answer], 1)

    (one,), (other,) = (store.wholes([[1]]) for store in stores)
    for store in stores:
        store.close()

    assert one == other
