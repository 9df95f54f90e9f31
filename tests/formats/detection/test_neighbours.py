"""The formats of files that other tools wrote, each recognised by its beginning."""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from cases import for_each_case
from corpora import CORPORA, parameters
from harpia_formats import detect

ROOT = Path(__file__).parents[3]
CORPUS = CORPORA / "neighbours"
#: The format of the files whose paths match a pattern, by the first pattern that does;
#: "" where it must not be any.
FORMATS = (
    ("chat/alpaca_*", "alpaca"),
    # A label, not an expected answer.
    ("chat/kto_*", ""),
    # Parts with `value` and a weight of the loss.
    ("chat/v1_sft_*", ""),
    ("chat/*", "sharegpt"),
    ("helm/*", "helm"),
    # Several members for each sample: reported as such, and not read.
    ("inspect/made/*_chunked.eval", ""),
    ("inspect/*", "inspect-log"),
    ("lm-eval/*/results_*", "lm-eval-results"),
    ("lm-eval/*", "lm-eval-samples"),
    ("mt-bench/question*", "mt-bench-questions"),
    ("mt-bench/reference_answer*", "mt-bench-answers"),
    ("openai/batch_input*", "openai-batch-input"),
    ("openai/batch_*", "openai-batch-output"),
    ("openai/evals_run_log*", "openai-evals-log"),
    ("openai/evals_*", "openai-evals"),
    ("openai/preference*", "openai-preference"),
    ("openai/fine_tuning_tools*", "openai-chat"),
    # Text only, so it may be Tencent's as well.
    ("openai/toy_chat*", "tencent-messages"),
    # The rows are chats, in a table as well.
    ("tables/messages*", "tencent-messages"),
    # Nothing says what its columns hold.
    ("tables/squad*", ""),
    ("tables/*", "parquet"),
)


def inputs() -> Iterator[Path]:
    """Yield each file of the corpus, and each folder that is one input."""
    if not CORPUS.is_dir():
        return
    for folder in sorted(path for path in CORPUS.iterdir() if path.is_dir()):
        if folder.name == "helm":
            yield from sorted(folder.iterdir())
            continue
        for path in sorted(folder.rglob("*")):
            is_part = path.parent.name.endswith("_save_to_disk")
            if path.name.endswith("_save_to_disk") or (path.is_file() and not is_part):
                yield path


def expected(path: Path) -> str:
    """Return the format of a file of the corpus."""
    name = str(path.relative_to(CORPUS))
    return next(format_ for pattern, format_ in FORMATS if fnmatch(name, pattern))


@pytest.mark.corpora
def test_corpus_is_whole() -> None:
    """The corpus has files of each tool."""
    assert {path.relative_to(CORPUS).parts[0] for path in inputs()} == {
        pattern.partition("/")[0] for pattern, _ in FORMATS
    }


@pytest.mark.corpora
@for_each_case(
    "path", parameters(inputs()), ids=lambda path: "-".join(path.parts[-3:])[:60]
)
def test_files_of_other_tools_are_recognised(path: Path) -> None:
    """Each file is taken for the format of the tool that wrote it, or for none."""
    (found,) = detect(path)

    assert (found.format or "") == expected(path)


@pytest.mark.corpora
@pytest.mark.parametrize(
    "path",
    parameters(path for path in inputs() if path.match("toy_chat*")),
    ids=lambda path: path.name,
)
def test_a_file_of_two_tools_names_the_other(path: Path) -> None:
    """Chats of text that two tools write are claimed with the rival named."""
    (found,) = detect(path)

    assert found.rival == "openai-chat"
    assert found.confidence == pytest.approx(0.6)
