"""All tables of the database, one module per package that owns them.

Import every module of tables here: rights, backup and tests rely on complete metadata.
"""

from clearlane.store.schema.api import *  # noqa: F403
from clearlane.store.schema.console import *  # noqa: F403
from clearlane.store.schema.core import *  # noqa: F403
from clearlane.store.schema.counts import *  # noqa: F403
from clearlane.store.schema.delivery import *  # noqa: F403
from clearlane.store.schema.eligibility import *  # noqa: F403
from clearlane.store.schema.enrollment import *  # noqa: F403
from clearlane.store.schema.events import *  # noqa: F403
from clearlane.store.schema.failed_deliveries import *  # noqa: F403
from clearlane.store.schema.payments import *  # noqa: F403
from clearlane.store.schema.recovery_codes import *  # noqa: F403
from clearlane.store.schema.webhooks import *  # noqa: F403
from clearlane.store.schema.worklist import *  # noqa: F403
