"""The folder of a model on this machine, for metrics that need one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harpia_formats.evaluation.metrics.parameters import Parameters

NO_FOLDER = "the path of a folder that holds a model and its tokenizer"
#: How the names of the files of a model end, and the characters of their digest.
_PARTS = frozenset({".bin", ".json", ".model", ".safetensors", ".txt"})
_DIGEST = 12
#: What the library of a model raises for a folder that it cannot load.
NOT_LOADED = (ImportError, KeyError, OSError, ValueError)


def model_folder(parameters: Parameters) -> Path:
    """Return the folder in the parameter `model`; raises `MetricError` for others."""
    model = parameters.values["model"]
    if not isinstance(model, str | Path) or not Path(model, "config.json").is_file():
        raise parameters.wrong("model", f"{NO_FOLDER} (nothing is downloaded)")
    return Path(model).resolve()


def model_name(parameters: Parameters, folder: Path) -> str:
    """Return the name of a model in signatures: its folder, and a digest of its files.

    The digest is of the configuration, the tokenizer and the weights. Raises
    `MetricError` for a file that cannot be read.
    """
    from hashlib import file_digest, sha256  # noqa: PLC0415 - only with a model

    found = sha256()
    try:
        for file in sorted(folder.rglob("*")):
            if file.suffix in _PARTS and file.is_file():
                with file.open("rb") as content:
                    part = file_digest(content, "sha256")
                found.update(file.relative_to(folder).as_posix().encode() + b"\n")
                found.update(part.digest())
    except OSError as error:
        raise no_model(parameters, error) from error
    return f"{folder.name}#{found.hexdigest()[:_DIGEST]}"


def no_model(parameters: Parameters, error: Exception) -> Exception:
    """Return the `MetricError` for a folder that a library could not load."""
    reason = str(error).strip().partition("\n")[0]
    return parameters.wrong("model", f"{NO_FOLDER} ({reason})")


@contextmanager
def without_progress_bar() -> Iterator[None]:
    """Keep transformers from printing a progress bar while it loads a model."""
    from transformers.utils import logging  # noqa: PLC0415 - in extras, and slow to import

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()
