"""Find the template for each row by its shape, and make templates for new shapes.

Most rows of a file have one of a few shapes: the same fields, of the same types. The
first row of a shape is converted as a record, and a template is made of that. The other
rows of the shape are converted by the template, without making records of them. A row
that no template fits is converted as a record, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from harpia_formats.conversion.fast.probe import RowPath, empty_texts_in
from harpia_formats.conversion.fast.row_shape import TemplateLookup, template_lookup
from harpia_formats.conversion.fast.row_template import (
    ConvertRow,
    RowTemplate,
    make_template,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Shapes that get a template; rows of further shapes are converted as records.
MAX_SHAPES = 256
#: Templates that are tried for one shape with empty texts at different paths.
MAX_VARIANTS = 8


@dataclass(slots=True)
class RowTemplates:
    """The templates for the rows that one decoder accepts."""

    decoder: TypedDecoder
    schema: Mapping[str, Any]
    source: FormatAdapter
    convert_row: ConvertRow
    #: The template of each shape; one that makes nothing if a shape has none.
    templates: dict[Any, RowTemplate] = field(default_factory=dict)
    _lookup: TemplateLookup | None = None

    def unused_copy(self) -> "RowTemplates":
        """Return the same templates, which have converted no row yet."""
        templates = {
            shape: template.unused_copy() for shape, template in self.templates.items()
        }
        return replace(self, templates=templates)

    def all_templates(self) -> Iterator[RowTemplate]:
        """Yield every template."""
        for template in self.templates.values():
            yield template
            yield from template.others

    def templates_for(self, rows: Sequence[Any]) -> tuple[list[RowTemplate], int]:
        """Return the template for each of `rows`, and the number of all members."""
        if self._lookup is None:
            self._lookup = template_lookup(self.decoder, self.source, self.schema)
        return self._lookup(rows, self.templates.get, self._add)

    def _add(self, row: Any, shape: Any, uncounted: int) -> RowTemplate:
        """Return a template for rows like `row`, whose shape is new.

        `uncounted` is the number of members of the row that its shape does not tell.
        """
        members = self.decoder.members(row) - uncounted
        if len(self.templates) >= MAX_SHAPES:
            return RowTemplate(members=members)
        template = self._make(row) or RowTemplate()
        template.members, template.tried = members, {_empty_texts(row)}
        self.templates[shape] = template
        return template

    def convert_by_another(
        self, template: RowTemplate, row: Any, number: int
    ) -> tuple[RowTemplate, list[Row] | None]:
        """Convert a row of the shape of `template`, which does not fit it.

        Return another template with the rows that it makes, or None for the rows.
        """
        for other in template.others:
            rows = other.make(row, number)
            if rows is not None:
                return other, rows
        if template.tried is not None and len(template.tried) < MAX_VARIANTS:
            empty = _empty_texts(row)
            new = None if empty in template.tried else self._make(row)
            template.tried.add(empty)
            if new is not None:
                template.others.append(new)
                return new, new.make(row, number)
        return template, None

    def _make(self, row: Any) -> RowTemplate | None:
        return make_template(row, self.decoder, self.source, self.convert_row)


def _empty_texts(row: Any) -> frozenset[RowPath]:
    return frozenset(empty_texts_in(msgspec.to_builtins(row)))
