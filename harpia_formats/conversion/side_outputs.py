"""The outputs of a conversion beside its rows: rows put aside, the report of losses."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.options import ConvertOptions, OnInvalid, Output
from harpia_formats.conversion.output_files import check_output
from harpia_formats.conversion.report import ConversionReport
from harpia_formats.files.io.files_read import FilesRead
from harpia_formats.files.io.output_group import OutputGroup
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.urls import is_same_place, is_url, masked
from harpia_formats.formats.registry import all_unpackers

if TYPE_CHECKING:  # loaded only for the option --on-invalid quarantine
    from harpia_formats.conversion.quarantine import Quarantine


@dataclass(frozen=True, slots=True)
class SideOutputs:
    """The outputs of a conversion beside its rows, in one group with them."""

    group: OutputGroup
    #: Where invalid rows go; None if they are not put aside.
    quarantine: "Quarantine | None"
    #: The path or URL of the report of losses; None if none is written.
    loss_report: str | None

    def complete(
        self,
        report: ConversionReport,
        companions: Iterable[str],
        *,
        with_quarantine: bool,
    ) -> None:
        """Write what is missing of the outputs, and commit all outputs of the group.

        `companions` are the documents that were found and read. Raises `SinkError`.
        """
        self.group.check_apart(companions)
        if self.quarantine is not None and with_quarantine:
            self.quarantine.complete()
        elif self.quarantine is not None:
            self.quarantine.discard()
        if self.loss_report is not None:
            from harpia_formats.conversion.losses.json import loss_report  # noqa: PLC0415 - few conversions write it

            self.group.open(self.loss_report).write(loss_report(report))
        self.group.commit()


def side_outputs(
    options: ConvertOptions, output: Output, inputs: Iterable[Any]
) -> SideOutputs:
    """Return the outputs beside `output` that the options ask for.

    Nothing is written yet. Raises `ConversionError` and `SinkError` for a place that
    cannot be written, or that is an input or another output.
    """
    reads = FilesRead(
        inputs,
        [options.companion],
        exclude=options.exclude,
        unpackers=all_unpackers(),
        rewritten=fspath(output) if isinstance(output, (str, PathLike)) else None,
    )
    group = OutputGroup(overwrite=options.overwrite, reads=reads)
    quarantine = None
    if options.on_invalid is OnInvalid.QUARANTINE:
        from harpia_formats.conversion.quarantine import Quarantine  # noqa: PLC0415 - few conversions put rows aside

        quarantine = Quarantine.beside(
            options.quarantine, output, group, overwrite=options.overwrite
        )
    if options.loss_report is None:
        return SideOutputs(group, quarantine, None)
    report = fspath(options.loss_report)
    others = [*reads.named]
    if isinstance(output, (str, PathLike)):
        others.append(fspath(output))
    _check_loss_report(report, others, overwrite=options.overwrite)
    group.claim(report)
    return SideOutputs(group, quarantine, report)


def _check_loss_report(place: str, others: Iterable[str], *, overwrite: bool) -> None:
    """Raise `SinkError` if the losses cannot be written to `place`.

    That is an existing file unless `overwrite`, a file in a missing folder, and each
    of `others`: the inputs and the output of the conversion.
    """
    check_output(place, overwrite=overwrite)
    if not is_url(place) and not Path(place).absolute().parent.is_dir():
        raise SinkError(place, "its folder does not exist")
    if any(is_same_place(place, other) for other in others):
        reason = "is an input or the output of the conversion"
        raise SinkError(masked(place), reason)
