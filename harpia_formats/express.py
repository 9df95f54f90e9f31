"""Convert rows of a shape that was met before without making records of them.

Most rows of a file have one of a few shapes: the same fields, of the same types. What
becomes of the first row of a shape is found out in the ordinary way, and then a second
and a third time with other values in all of its fields. Where every value of the result
is a value of the row or always the same, the rows of this shape need no more than to
have values moved; so a plan is made of it, and compiled. A row that no plan is for, or
that has what a plan must not decide on, goes the ordinary way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harpia_formats.lane import Lane
from harpia_formats.plan import Ordinary, Plan, planned
from harpia_formats.shape import shape_of_rows
from harpia_formats.spoke import Spoke

#: Shapes that are looked into; rows of others go the ordinary way.
MOST = 256


@dataclass(slots=True)
class Express:
    """The plans for the rows that one lane accepts."""

    lane: Lane
    schema: Mapping[str, Any]
    source: Spoke
    ordinary: Ordinary
    plans: dict[Any, Plan | None] = field(default_factory=dict)
    shape_of: Callable[[Any], Any] = field(default=lambda _: None)

    def __post_init__(self) -> None:
        self.shape_of = shape_of_rows(self.lane, self.source, self.schema)

    def afresh(self) -> "Express":
        """Return the same plans, followed for no row yet."""
        plans = {
            shape: plan and replace(plan, count=0) for shape, plan in self.plans.items()
        }
        return replace(self, plans=plans)

    def plan_for(self, row: Any, shape: Any) -> Plan | None:
        """Return the plan for rows like `row`, whose shape is new."""
        if len(self.plans) >= MOST:
            return None
        plan = planned(row, self.lane, self.source, self.ordinary)
        self.plans[shape] = plan
        return plan
