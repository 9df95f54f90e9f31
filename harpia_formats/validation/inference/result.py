"""The result of inferring a schema."""

from dataclasses import dataclass
from typing import Any, ClassVar

from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result


@dataclass(frozen=True, slots=True, repr=False)
class InferredSchema(Result):
    """A schema, and the rows from which it was inferred."""

    columns: ClassVar = ("key", "type", "required")

    #: A draft-07 schema; None if a file could not be read, or a row is no JSON.
    schema: dict[str, Any] | None
    #: How many rows were read.
    rows: int
    #: What was found in the files.
    report: Report

    @property
    def ok(self) -> bool:
        """Whether every row was read."""
        return self.schema is not None

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless every row was read."""
        if not self.ok:
            raise validation_failed(self.report, self)

    def headline(self) -> str:
        """Return the number of rows and of keys in one line."""
        if self.schema is None:
            return f"no schema, {self.report.headline()}"
        keys = len(self.schema.get("properties", {}))
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"a schema of {rows} with {keys:,} {'key' if keys == 1 else 'keys'}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each key of the rows."""
        schema = self.schema or {}
        required = schema.get("required", ())
        return [
            {"key": key, "type": part.get("type", ""), "required": key in required}
            for key, part in schema.get("properties", {}).items()
        ]
