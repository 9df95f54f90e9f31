"""The folder of a model on this machine, for metrics that need one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harpia_formats.metrics.parameters import Parameters

NO_FOLDER = "the path of a folder that holds a model and its tokenizer"
#: What the library of a model raises for a folder that it cannot load.
NOT_LOADED = (ImportError, KeyError, OSError, ValueError)


def model_folder(parameters: Parameters) -> Path:
    """Return the folder in the parameter `model`; raises `MetricError` for others."""
    model = parameters.values["model"]
    if not isinstance(model, str | Path) or not Path(model, "config.json").is_file():
        raise parameters.wrong("model", f"{NO_FOLDER} (nothing is downloaded)")
    return Path(model).resolve()


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
