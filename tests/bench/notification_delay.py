"""Time from a fault until somebody is notified: in embedded mode, and by Alertmanager.

Run by hand, `python -m tests.bench.notification_delay MODE [FAULTS [PERIOD [OPTIONS]]]` with the
mode `embedded` or `alertmanager`: plays a live game day against a `lineward up` of its own, and
prints its figures with the load of the machine, or why there are none. On a busy machine no dataset
meets the limit of a PERIOD of 12 s, and the game day does not begin: use 60. Prometheus scrapes and
evaluates each 15 s. All other settings of Prometheus and Alertmanager are defaults, or written by
`lineward render`.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.alerts.rules.alertmanagers import running, scraping
from tests.e2e.live import Staging, staging

_PROMETHEUS = """
global: {{scrape_interval: 15s, evaluation_interval: 15s}}
rule_files: [lineward-rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{METRICS}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{COLLECTOR}"]}}]}}
"""


def main(mode: str, faults: str = "20", period: str = "12", *more: str) -> None:
    """Print the figures of one mode; `more` are options of `lineward gameday live`."""
    ways = {"embedded": staging, "alertmanager": _alerted}
    with tempfile.TemporaryDirectory() as name, ways[mode](Path(name), period) as staged:
        before = os.getloadavg()
        given = ("--faults", faults, "--period", period, *more)
        done = staged.play(*given, seconds=7_200, json=False)
        loads = ", ".join(f"{load:.0f}" for load in (before[0], *os.getloadavg()[::2]))
        sys.stdout.write(f"{mode}, {faults} faults, period {period} s, load {loads}:\n")
        sys.stdout.write(done.stdout or f"no figures: exit code {done.returncode}, see above\n")


@contextmanager
def _alerted(folder: Path, period: str) -> Iterator[Staging]:
    with staging(folder, period, LINEWARD_ALERTS_MODE="alertmanager") as staged:
        given = ("--policy", str(staged.policy), "--lineward-url", staged.service)
        rules = staged.up.text("render", "rules", *given)
        (folder / "lineward-rules.yml").write_text(rules, encoding="utf-8")
        watchdog = f"{staged.service}/livez"
        routes = staged.up.text("render", "alertmanager", *given, "--watchdog-url", watchdog)
        with running(folder, routes) as alertmanager:
            text = _PROMETHEUS.format(alertmanager=alertmanager.address, **staged.up.ports)
            with scraping(folder, text, resend_delay="1m"):
                yield staged


if __name__ == "__main__":
    main(*sys.argv[1:])
