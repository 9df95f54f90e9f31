"""The profiles of metrics: built-in ones, and those of vendors."""

from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.formats.registry import vendor_profile, vendor_profiles
from harpia_formats.model.metric_profile import MetricProfile, MetricRequest, ScoreError
from harpia_formats.model.text.spelling import hint_on

_squad = {"normalisation": "squad", "references": "max"}

#: Every built-in metric by its name, with its default parameters.
DEFAULT = MetricProfile(
    id="default",
    summary="The field's usual definitions, the best over all references; BLEU is "
    "sacrebleu's corpus BLEU on a scale from 0 to 100.",
    metrics={name: (MetricRequest(name),) for name in METRICS},
    usual=("em", "f1"),
)
SQUAD = MetricProfile(
    id="squad",
    summary="SQuAD v1.1: the best over all references, on a scale from 0 to 100.",
    metrics={
        "em": (
            MetricRequest("em", _squad | {"scale": "0-100"}, names=("exact_match",)),
        ),
        "f1": (MetricRequest("f1", _squad | {"scale": "0-100", "empty": "v1"}),),
    },
    usual=("em", "f1"),
)


_ours = {profile.id: profile for profile in (DEFAULT, SQUAD)}


def profile_names() -> tuple[str, ...]:
    """Return the names of all profiles, the built-in ones first."""
    return (*_ours, *vendor_profiles())


def profile_named(name: str) -> MetricProfile:
    """Return the profile with this name; raises `ScoreError` for an unknown one."""
    if name in _ours:
        return _ours[name]
    if name in vendor_profiles():
        return vendor_profile(name)
    raise ScoreError(f"no profile is called {name!r}{hint_on(name, profile_names())}")
