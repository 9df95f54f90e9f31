"""Settings of all property tests."""

import os

from hypothesis import HealthCheck, settings

# How long an example takes says more of the machine than of the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples in every run, so that a failure is due to the change that is tested;
# fewer of them, since another run would draw no others.
settings.register_profile(
    "repeatable",
    settings.get_profile("any machine"),
    derandomize=True,
    database=None,
    max_examples=50,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "any machine"))
