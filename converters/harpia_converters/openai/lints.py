"""The lints of the requests of a batch: what all of them must agree in (O2)."""

from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement, Lints
from harpia_formats.model.problem import Path


def _rule(code: str, path: Path, what: str) -> AcrossRows:
    """Return the rule that the value at a path is the same in all requests."""

    def other(found: Disagreement) -> str:
        return f"{what} is {found.value}, and that of {found.owner} {found.earlier}"

    help_ = "put them into a file of their own: a batch takes one"
    return AcrossRows(code, Agreement.ONE_VALUE, (path,), other, help_)


REQUESTS = Lints(
    across=(
        _rule("O202", ("url",), "the endpoint"),
        _rule("O203", ("body", "model"), "the model"),
    )
)
