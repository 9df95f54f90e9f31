"""All checks of `--lint` on rows of EvalEval, for each of the three shapes."""

from harpia_converters.eee import versions
from harpia_converters.eee.lint import (
    across,
    attribution,
    identity,
    keys,
    results,
    texts,
    turns,
)
from harpia_converters.eee.versions import Version
from harpia_formats.model.lint import Lints

#: Empty prompts and references, which E122 is on, and types of ids: E303.
_covered = frozenset({"V306", "V307", "X104"})


def lints_of(version: Version) -> Lints:
    """Return the checks of rows of `version`."""
    rows = (
        identity.lint(version),
        turns.lint(version),
        attribution.lint(version),
        results.LINT,
        texts.lint(version),
        keys.lint(version),
    )
    return Lints(rows, across.rules_of(version), covers=_covered)


V0_2_0 = lints_of(versions.V0_2_0)
V0_2_0_TAG = lints_of(versions.V0_2_0_TAG)
V0_3_0 = lints_of(versions.V0_3_0)
