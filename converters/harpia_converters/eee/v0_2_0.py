"""The format eee@0.2.0: samples of February 2026, one reference, `interactions`."""

from functools import partial

from harpia_converters.eee import versions
from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import (
    IDENTITY_PATHS,
    LABEL_KEY,
    ROW_KEYS,
    V0_2_0,
    VENDOR,
    sign_of,
)
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=V0_2_0,
    title="The instance-level schema of February 2026: one reference, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_2_0",
    results="harpia_converters.eee.results_writer:V0_2_0",
    unsafe_repairs="harpia_converters.eee.repairs:with_interactions",
    family="eee",
    dialects=(
        Dialect(
            V0_2_0,
            partial(sign_of, version=V0_2_0),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lint.lints:V0_2_0",
            label_key=LABEL_KEY,
            labels=versions.V0_2_0.labels | versions.FIRST_LABELS,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)
