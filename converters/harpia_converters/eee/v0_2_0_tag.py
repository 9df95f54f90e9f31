"""The format eee@0.2.0-tag: samples of the git tag v0.2.0, lists, `interactions`."""

from functools import partial

from harpia_converters.eee import versions
from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import (
    IDENTITY_PATHS,
    LABEL_KEY,
    ROW_KEYS,
    V0_2_0_TAG,
    VENDOR,
    sign_of,
)
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=V0_2_0_TAG,
    title="The schema under the git tag v0.2.0: text or lists, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_2_0_TAG",
    results="harpia_converters.eee.results_writer:V0_2_0_TAG",
    unsafe_repairs="harpia_converters.eee.repairs:with_interactions",
    family="eee",
    dialects=(
        Dialect(
            V0_2_0_TAG,
            partial(sign_of, version=V0_2_0_TAG),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lint.lints:V0_2_0_TAG",
            label_key=LABEL_KEY,
            labels=versions.V0_2_0_TAG.labels,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)
