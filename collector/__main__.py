"""`python -m collector`: the collector role."""

import sys

import structlog

from collector.parent import WorkerParent
from collector.settings import read_collector_settings, read_sender_token, require_guarded_collector
from lineage.process.environment import InvalidSettingError
from lineage.process.role import begin_role
from lineage.process.sockets import listen

_log = structlog.get_logger()


def main() -> int:
    """Run the role; the exit status is 2 for a setting or an address that cannot be used."""
    begin_role()
    try:
        settings = read_collector_settings()
        require_guarded_collector(settings)
        read_sender_token(settings.limits)
        settings.place.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        listening = listen(settings.place.host, settings.place.collector_port)
    except (InvalidSettingError, OSError) as error:
        _log.error("collector_cannot_start", reason=str(error))
        return 2
    host, port = listening.getsockname()[:2]
    _log.info("collector_listening", host=host, port=port)
    return WorkerParent(listening).run()


if __name__ == "__main__":
    sys.exit(main())
