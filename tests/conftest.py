"""Settings of all property tests."""

import os

from hypothesis import HealthCheck, settings

# How long an example takes says more of the machine than of the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples in every run: a failure is due to the change that is tested.
settings.register_profile(
    "repeatable", settings.get_profile("any machine"), derandomize=True, database=None
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "any machine"))
