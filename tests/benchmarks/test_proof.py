"""The proof of the metrics against other packages."""

from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType

import pytest

PACKAGES = ("haystack", "jiwer", "nltk", "rouge_score", "sacrebleu", "sklearn")
if missing := [name for name in PACKAGES if find_spec(name) is None]:
    pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)


@pytest.fixture
def proof(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of the proof."""
    return modules("proof")


def test_every_metric_is_compared_or_named(proof: ModuleType) -> None:
    """A new metric needs a comparison, or a word on where it is proved."""
    assert proof.unnamed() == set()


@pytest.mark.filterwarnings("default")  # what the other packages say
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(55, marks=pytest.mark.long),
        pytest.param(10_000, marks=pytest.mark.proof),
    ],
)
def test_scores_are_those_of_other_packages(proof: ModuleType, count: int) -> None:
    """Every score of every record, kind of text and of all is equal to 10^-9."""
    found = proof.proven(count)

    assert [one for one in found if not one.difference <= 1e-9] == []
    assert "Every difference is at most 10^-9." in proof.document(found, count)
