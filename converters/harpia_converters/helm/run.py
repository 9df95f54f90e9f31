"""The format helm: the folder of a run, or its scenario_state.json alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.files.io.unpacking import Unpacker
from harpia_formats.model.format import Container, Dialect, Format, Remark

VENDOR = "HELM"
#: The member of a document that holds its rows.
ROWS = "request_states"
#: The dialect of a scenario_state.json without the files beside it.
ALONE = "scenario-state"
#: The file by which a folder is a run.
STATE_FILE = "scenario_state.json"


def is_run(names: frozenset[str]) -> bool:
    """Tell whether a folder with entries of these names is the folder of a run."""
    return STATE_FILE in names


def run_sign(document: Mapping[str, Any]) -> str:
    """Return by what `document` is a run folder that was read as one document."""
    is_one = document.keys() >= {"files", "run_spec", ROWS}
    return f"`run_spec` and `{ROWS}`" if is_one else ""


def state_sign(document: Mapping[str, Any]) -> str:
    """Return by what `document` is a scenario_state.json."""
    is_one = document.keys() >= {"adapter_spec", ROWS}
    return f"`adapter_spec` and `{ROWS}`" if is_one else ""


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an instance with its requests (R102, R104)."""
    from harpia_converters.helm.remarks import instance_remarks  # noqa: PLC0415 - start-up: for files of HELM only

    return instance_remarks(row)


def run_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a run without its instances (R101, R103, R105)."""
    from harpia_converters.helm.remarks import run_remarks as found  # noqa: PLC0415 - start-up: for files of HELM only

    return found(document)


def state_remarks(state: Any) -> Iterator[Remark]:
    """Yield remarks on a request of a scenario_state.json (R104)."""
    from harpia_converters.helm.remarks import request_remarks  # noqa: PLC0415 - start-up: for files of HELM only

    return request_remarks(state, ())


def alone_remarks(document: Any) -> Iterator[Remark]:  # noqa: ARG001 - the shape of `Remarks`
    """Yield the remark that a scenario_state.json has no scores (R106)."""
    message = f"there are no scores in {STATE_FILE}"
    help_ = "give the folder of the run: the scores are in per_instance_stats.json"
    yield Remark("R106", (), message, help_)


FORMAT = Format(
    id="helm",
    title="A run folder: instances with their requests, completions and statistics",
    vendor=VENDOR,
    adapter="harpia_converters.helm.mapping:RUN",
    read_only=True,
    id_key="instance_id",
    ids_repeat=True,
    dialects=(
        Dialect(
            "helm",
            run_sign,
            container=Container.WRAPPED,
            rows_at=ROWS,
            remarks=remarks,
            header_remarks=run_remarks,
        ),
        Dialect(
            "helm-scenario-state",
            state_sign,
            name=ALONE,
            container=Container.WRAPPED,
            rows_at=ROWS,
            remarks=state_remarks,
            header_remarks=alone_remarks,
        ),
    ),
)
UNPACKER = Unpacker(
    "helm-run", is_folder=is_run, open="harpia_converters.helm.run_folder:parts"
)
