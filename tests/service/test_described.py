"""What OpenAPI says of the service is so: asked for at random, it answers as it is described."""

import schemathesis
from hypothesis import HealthCheck, Phase, settings
