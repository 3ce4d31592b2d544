"""Where every module has its logger from.

    log = get_logger()

Without the libraries that structlog would color tracebacks with: 5 MB and a tenth of a second of each process, for lines that
``api.operations.logs`` renders without them.
"""

from clearlane.kernel.without_modules import without_modules

with without_modules("rich", "better_exceptions", "colorama"):
    import structlog

__all__ = ["get_logger", "structlog"]

get_logger = structlog.get_logger
