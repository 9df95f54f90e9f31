"""The lints of the requests of a batch: what all of them must agree in (O2)."""

from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement, Lints

_URLS, _MODELS = "O202", "O203"


def _other_url(found: Disagreement) -> str:
    return f"the endpoint is {found.value}, and that of {found.owner} {found.earlier}"


def _other_model(found: Disagreement) -> str:
    return f"the model is {found.value}, and that of {found.owner} {found.earlier}"


_apart = "put them into a file of their own: a batch takes one"

REQUESTS = Lints(
    across=(
        AcrossRows(_URLS, Agreement.ONE_VALUE, (("url",),), _other_url, _apart),
        AcrossRows(
            _MODELS, Agreement.ONE_VALUE, (("body", "model"),), _other_model, _apart
        ),
    )
)
