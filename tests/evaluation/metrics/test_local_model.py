"""The folder of a model, as signatures name it."""

from pathlib import Path

from harpia_formats.evaluation.metrics.metric import Parameters
from harpia_formats.evaluation.metrics.model_similarity import model_name


def test_models_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Other weights give another name, and another place or a note does not."""
    folders = [tmp_path / place / "small" for place in "abc"]
    for folder, weights in zip(folders, (b"1", b"1", b"2"), strict=True):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(weights)
    (folders[1] / "README.md").write_text("a note")

    first, same, other = (
        model_name(Parameters("sas", {"model": folder}), folder) for folder in folders
    )

    assert first == same
    assert first != other
    assert first.startswith("small#")
