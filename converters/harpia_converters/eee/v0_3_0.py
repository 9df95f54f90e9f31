"""eee@0.3.0: the shape of 0.2.1 to 0.3.0: lists, `messages`, a closed root."""

from functools import partial

from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import APART, CURRENT, VENDOR, sign_of
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=CURRENT,
    aliases=("eee@0.2.1", "eee@0.2.2", "eee@0.2.3"),
    title="The shape of 0.2.1 to 0.3.0: lists, `messages`, a closed root",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:CURRENT",
    results="harpia_converters.eee.results_writer:CURRENT",
    family="eee",
    dialects=(Dialect(CURRENT, partial(sign_of, shape=CURRENT)),),
    id_with=APART,
    companion=COMPANION,
    advise=partial(advise, turns="messages"),
)
