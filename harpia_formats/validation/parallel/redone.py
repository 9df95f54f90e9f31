"""Count the units that a worker gave back to the main process, and why."""

from dataclasses import dataclass

from harpia_formats.validation.unit.result import FileNotSeen, TooMuch


@dataclass(slots=True)
class RedoneUnits:
    """How many units the main process validated, because no worker did."""

    #: Units with more findings than are worth sending.
    too_many_findings: int = 0
    #: Units of files that a worker could not read, or saw with other content.
    files_not_seen: int = 0

    def count(self, answer: TooMuch | FileNotSeen) -> None:
        """Count a unit by the answer of its worker."""
        if isinstance(answer, TooMuch):
            self.too_many_findings += 1
        else:
            self.files_not_seen += 1

    def lines(self) -> list[str]:
        """Return a sentence for each reason that applied."""
        sentences = []
        if self.too_many_findings:
            number = f"{self.too_many_findings:,}"
            sentences.append(
                f"units validated by the main process for too many findings: {number}"
            )
        if self.files_not_seen:
            number = f"{self.files_not_seen:,}"
            sentences.append(
                "units validated by the main process because a worker did not see "
                f"the file: {number}"
            )
        return sentences
