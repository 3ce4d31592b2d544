"""The tables. Each room's stand in a module of their own; whoever asks gets them all.

A module of tables must be imported here, so that the metadata is whole for rights, backup and tests.
"""

from clearlane.store.schema.console import *  # noqa: F403
from clearlane.store.schema.core import *  # noqa: F403
from clearlane.store.schema.delivery import *  # noqa: F403
from clearlane.store.schema.eligibility import *  # noqa: F403
from clearlane.store.schema.enrollment import *  # noqa: F403
