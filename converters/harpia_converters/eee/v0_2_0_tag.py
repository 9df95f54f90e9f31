"""eee@0.2.0-tag: the shape under the git tag v0.2.0: text or lists, `interactions`."""

from functools import partial

from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import APART, TAG, VENDOR, sign_of
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=TAG,
    title="The shape under the git tag v0.2.0: text or lists, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:TAG",
    results="harpia_converters.eee.results_writer:TAG",
    family="eee",
    dialects=(Dialect(TAG, partial(sign_of, shape=TAG)),),
    id_with=APART,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)
