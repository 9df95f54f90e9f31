"""The format eee@0.3.0: samples of 0.2.1 to 0.3.0, lists, `messages`, no other keys."""

from functools import partial

from harpia_converters.eee import versions
from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import (
    IDENTITY_PATHS,
    LABEL_KEY,
    ROW_KEYS,
    V0_3_0,
    VENDOR,
    sign_of,
)
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=V0_3_0,
    aliases=("eee@0.2.1", "eee@0.2.2", "eee@0.2.3"),
    title="The schema of 0.2.1 to 0.3.0: lists, `messages`, no other keys",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_3_0",
    results="harpia_converters.eee.results_writer:V0_3_0",
    unsafe_repairs="harpia_converters.eee.repairs:with_messages",
    family="eee",
    dialects=(
        Dialect(
            V0_3_0,
            partial(sign_of, version=V0_3_0),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lint.lints:V0_3_0",
            label_key=LABEL_KEY,
            labels=versions.V0_3_0.labels,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="messages"),
)
