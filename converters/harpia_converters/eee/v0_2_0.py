"""eee@0.2.0: the schema of February 2026: one reference, `interactions`."""

from functools import partial

from harpia_converters.eee.companion import COMPANION
from harpia_converters.eee.condition_advice import advise
from harpia_converters.eee.detection import APART, SEED, VENDOR, sign_of
from harpia_formats.model.format import Dialect, Format

FORMAT = Format(
    id=SEED,
    title="The instance-level schema of February 2026: one reference, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:SEED",
    results="harpia_converters.eee.results_writer:SEED",
    family="eee",
    dialects=(Dialect(SEED, partial(sign_of, shape=SEED)),),
    id_with=APART,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)
