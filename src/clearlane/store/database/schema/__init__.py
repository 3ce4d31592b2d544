"""All tables of the database, one module per package that owns them.

Import every module of tables here: rights, backup and tests rely on complete metadata.
"""

from clearlane.store.database.schema.api import *  # noqa: F403
from clearlane.store.database.schema.api_keys import *  # noqa: F403
from clearlane.store.database.schema.code_lists import *  # noqa: F403
from clearlane.store.database.schema.console import *  # noqa: F403
from clearlane.store.database.schema.core import *  # noqa: F403
from clearlane.store.database.schema.counts import *  # noqa: F403
from clearlane.store.database.schema.delivery import *  # noqa: F403
from clearlane.store.database.schema.enrollment import *  # noqa: F403
from clearlane.store.database.schema.events import *  # noqa: F403
from clearlane.store.database.schema.failed_deliveries import *  # noqa: F403
from clearlane.store.database.schema.files import *  # noqa: F403
from clearlane.store.database.schema.follow_up import *  # noqa: F403
from clearlane.store.database.schema.inquiries import *  # noqa: F403
from clearlane.store.database.schema.payments import *  # noqa: F403
from clearlane.store.database.schema.proofs import *  # noqa: F403
from clearlane.store.database.schema.recovery_codes import *  # noqa: F403
from clearlane.store.database.schema.retention import *  # noqa: F403
from clearlane.store.database.schema.returned_files import *  # noqa: F403
from clearlane.store.database.schema.rules import *  # noqa: F403
from clearlane.store.database.schema.series import *  # noqa: F403
from clearlane.store.database.schema.sftp_tables import *  # noqa: F403
from clearlane.store.database.schema.webhooks import *  # noqa: F403
from clearlane.store.database.schema.worklist import *  # noqa: F403
