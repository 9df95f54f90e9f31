"""Convert rows of a shape that was met before without making records of them.

Most rows of a file have one of a few shapes: the same fields, of the same types. What
becomes of the first row of a shape is found out in the ordinary way, and then a second
and a third time with other values in all of its fields. Where every value of the result
is a value of the row or always the same, the rows of this shape need no more than to
have values moved; so a plan is made of it, and compiled. A row that no plan is for, or
that has what a plan must not decide on, goes the ordinary way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from harpia_formats.conversion.fast.plan import Ordinary, Plan, planned
from harpia_formats.conversion.fast.probe import Key, blanks_in
from harpia_formats.conversion.fast.row_shape import Look, look_of
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Shapes that are looked into; rows of others go the ordinary way.
MOST = 256


#: Plans that are looked for among rows of one shape with empty texts here and there.
VARIANTS = 8


@dataclass(slots=True)
class Express:
    """The plans for the rows that one decoder accepts."""

    decoder: TypedDecoder
    schema: Mapping[str, Any]
    source: FormatAdapter
    ordinary: Ordinary
    #: Those of rows that are to go the ordinary way make nothing.
    plans: dict[Any, Plan] = field(default_factory=dict)
    _look: Look | None = None

    def afresh(self) -> "Express":
        """Return the same plans, followed for no row yet."""
        plans = {shape: each.afresh() for shape, each in self.plans.items()}
        return replace(self, plans=plans)

    def all_plans(self) -> Iterator[Plan]:
        """Yield every plan that there is."""
        for each in self.plans.values():
            yield each
            yield from each.others

    def plans_for(self, rows: Sequence[Any]) -> tuple[list[Plan], int]:
        """Return the plan for each of some rows, and how many members all have."""
        if self._look is None:
            self._look = look_of(self.decoder, self.source, self.schema)
        return self._look(rows, self.plans.get, self._learned)

    def _learned(self, row: Any, shape: Any, rest: int) -> Plan:
        """Return the plan for rows like `row`, whose shape is new.

        `rest` is the number of members of this row that the shape does not tell.
        """
        members = self.decoder.members(row) - rest
        if len(self.plans) >= MOST:
            return Plan(members=members)
        plan = self._planned(row) or Plan()
        plan.members, plan.tried = members, {_blanks_of(row)}
        self.plans[shape] = plan
        return plan

    def by_another(
        self, plan: Plan, row: Any, number: int
    ) -> tuple[Plan, list[Row] | None]:
        """Return the plan for a row that the plan for its shape is not for.

        With it come the rows that it makes, None if there is no such plan.
        """
        for each in plan.others:
            made = each.make(row, number)
            if made is not None:
                return each, made
        if plan.tried is not None and len(plan.tried) < VARIANTS:
            blanks = _blanks_of(row)
            other = None if blanks in plan.tried else self._planned(row)
            plan.tried.add(blanks)
            if other is not None:
                plan.others.append(other)
                return other, other.make(row, number)
        return plan, None

    def _planned(self, row: Any) -> Plan | None:
        return planned(row, self.decoder, self.source, self.ordinary)


def _blanks_of(row: Any) -> frozenset[Key]:
    return frozenset(blanks_in(msgspec.to_builtins(row)))
