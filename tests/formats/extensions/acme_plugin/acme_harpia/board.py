"""acme-board: answers with their scores by metric, which are read and not written."""

from harpia_formats.plugins import (
    Cardinality,
    Dialect,
    FieldMapping,
    FieldTable,
    Format,
    FormatAdapter,
    RowCapacity,
)

TABLE = FieldTable(
    "acme",
    (
        FieldMapping(("question",), "prompt"),
        FieldMapping(("answer",), "outputs.text"),
        FieldMapping(
            ("scores", "*"),
            "outputs.scores.value",
            key_record_path="outputs.scores.metric",
        ),
    ),
)
ADAPTER = FormatAdapter(
    vendor="acme",
    fields=TABLE.fields,
    read=TABLE.read,
    capacity=RowCapacity(scores=Cardinality.MANY),
)
FORMAT = Format(
    id="acme-board",
    title="Answers with their scores by metric",
    vendor="acme",
    dialects=(
        Dialect(
            "acme_harpia:acme-board",
            lambda row: "`scores`" if "scores" in row else "",
        ),
    ),
    adapter="acme_harpia.board:ADAPTER",
    read_only=True,
)
