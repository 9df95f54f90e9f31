"""The metric profile tencent."""

from pathlib import Path

from harpia_formats import score

EXAMPLE = Path("fixtures/tencent-outputs/valid/page-complete-example.jsonl")


def test_the_profile_has_the_metrics_that_the_vendor_names() -> None:
    """Without names pass@1, ROUGE and F1 are computed, for each model."""
    scores = score(EXAMPLE, profile="tencent", replicates=0)
    llama, qwen = scores.systems

    assert {one.metric for one in llama.scores} == {"pass@1", "rouge", "f1"}
    assert (llama["pass@1"].value, qwen["pass@1"].value) == (0.5, 1)
    assert all("|unverified|" in one.signature for one in llama.scores)


def test_any_k_has_the_definition_of_the_profile() -> None:
    """Another k is computed as pass@1, and not as in the default profile."""
    scores = score(
        EXAMPLE,
        profile="tencent",
        metrics=("pass@2",),
        model="llama3",
        missing="skip",
    )

    assert scores["pass@2"].signature.endswith("|scale:0-1|unverified|nrefs:1")
    assert not [note for note in scores.notes if "default" in note]
