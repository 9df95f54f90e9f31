"""Part the answers of a record by the models that gave them."""

from collections.abc import Iterator

from msgspec.structs import replace

from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record


def split_by_model(
    record: Record, fates: FieldFates, wanted: str | None
) -> Iterator[tuple[str, Record]]:
    """Yield the answers of each model by themselves, of one model if it is `wanted`."""
    models = dict.fromkeys(each.model or "" for each in record.outputs)
    if wanted is not None:
        if models.keys() - {wanted}:
            fates.dropped("outputs", "of another model")
        models = {wanted: None}
    if len(models) > 1:
        fates.split("outputs", "a file for each model")
    for model in models or {"": None}:
        kept = [each for each in record.outputs if (each.model or "") == model]
        yield model, replace(record, outputs=kept)
