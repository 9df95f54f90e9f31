"""What metrics by a model share: its folder, its name, and the best reference."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harpia_formats.plugins import (
    Measure,
    MetricError,
    Pair,
    Parameters,
    Statistics,
    UnscorableError,
)

#: What several references mean: the best score, or that of the first reference.
RULES = ("max", "first")
#: Returns the scores of pairs of an answer and its references: for each pair a list
#: with the scores by each reference, which are one for each name of the metric.
Compare = Callable[[Sequence[Pair]], list[list[tuple[float, ...]]]]
_LIBRARIES = {"sentence_transformers", "torch", "transformers"}
_FOLDER = "the path of a folder that holds a model and its tokenizer"
#: How the names of the files of a model end, and the characters of their digest.
_PARTS = frozenset({".bin", ".json", ".model", ".safetensors", ".txt"})
_DIGEST = 12


def model_folder(parameters: Parameters) -> Path:
    """Return the folder in the parameter `model`; raises `MetricError` for others."""
    model = parameters.values["model"]
    if not isinstance(model, str | Path) or not Path(model, "config.json").is_file():
        raise parameters.wrong("model", f"{_FOLDER} (nothing is downloaded)")
    return Path(model).resolve()


def model_name(parameters: Parameters, folder: Path) -> str:
    """Return the name of a model in signatures: its folder, and a digest of its files.

    So each score says which configuration, tokenizer and weights it is by. Raises
    `MetricError` for a file that cannot be read.
    """
    from hashlib import file_digest, sha256  # noqa: PLC0415 - only with a model

    found = sha256()
    with loading(parameters):
        for file in sorted(folder.rglob("*")):
            if file.suffix in _PARTS and file.is_file():
                with file.open("rb") as content:
                    part = file_digest(content, "sha256")
                found.update(file.relative_to(folder).as_posix().encode() + b"\n")
                found.update(part.digest())
    return f"{folder.name}#{found.hexdigest()[:_DIGEST]}"


@contextmanager
def loading(parameters: Parameters) -> Iterator[None]:
    """Turn what is raised while a model is loaded into a `MetricError`."""
    try:
        yield
    # What libraries of models raise for files that they cannot use.
    except (AttributeError, ImportError, KeyError, OSError, TypeError, ValueError) as e:
        if isinstance(e, ImportError) and e.name in _LIBRARIES:
            raise MetricError(
                f"the metric {parameters.metric} needs {e.name}, which is not "
                "installed: pip install ./integrations/neural-metrics"
            ) from e
        reason = str(e).strip().partition("\n")[0]
        raise parameters.wrong("model", f"{_FOLDER} ({reason})") from e


@contextmanager
def without_progress_bar() -> Iterator[None]:
    """Keep transformers from printing a progress bar while it loads a model."""
    from transformers.utils import logging  # noqa: PLC0415 - slow to import

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def best_measure(
    names: tuple[str, ...],
    signature: str,
    compare: Compare,
    rule: str,
    *,
    is_bounded: bool = False,
) -> Measure:
    """Return the mean over answers of the best scores over their references.

    `rule` is one of `RULES`. A model compares many texts at once much faster than one
    by one, so that the measure has a `batch`.
    """

    def batch(pairs: Sequence[Pair]) -> list[Statistics]:
        """Return the scores of each pair, and 1: the number of its answers."""
        if not all(references for _, references in pairs):
            raise UnscorableError("there is no reference to compare the answer with")
        if rule == "first":
            pairs = [(answer, references[:1]) for answer, references in pairs]
        return [(*map(max, zip(*each, strict=True)), 1) for each in compare(pairs)]

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the means of summed statistics, None if nothing was added."""
        if not sums or not sums[-1]:
            return (None,) * len(names)
        return tuple(total / sums[-1] for total in sums[:-1])

    return Measure(
        names,
        f"{signature}|refs:{rule}|scale:0-1",
        "0-1",
        lambda answer, references: batch([(answer, references)])[0],
        scores,
        batch,
        is_mean=True,
        is_bounded=is_bounded,
    )
