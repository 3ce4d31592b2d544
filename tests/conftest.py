"""What every test may use."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.databases"]

# A slow machine is no fault of the code: properties are not timed.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
