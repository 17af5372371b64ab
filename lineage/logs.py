"""How every role logs: one JSON object a line, on standard error.

Names and errors come from outside: in JSON none of them can end a line, or begin one that looks
like ours. A traceback has no values of variables in it: they hold what nobody may read.
"""

import sys

import structlog


def log_to_stderr(level: str = "info") -> None:
    """Log like this from here on, in this process.

    A command that logs calls it too: structlog's own default prints on standard output, with the
    values of variables in each traceback.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
