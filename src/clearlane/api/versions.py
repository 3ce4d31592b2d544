"""The versions of the API that a node serves.

The one module outside a version's own package that imports it: adding a version is one row here.
"""

from clearlane.api.frame.endpoint import ApiVersion
from clearlane.api.v1.endpoints import V1
from clearlane.api.v3.endpoints import V3

VERSIONS: tuple[ApiVersion, ...] = (V3, V1)

DEFAULT_VERSION = V3
"""The first that ``/openapi.json`` describes; its error shape answers requests that belong to no version."""
