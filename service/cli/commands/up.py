"""`lineward up`: collector, pipeline and service on this machine."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lineage.catalog.revision import NewerCatalogError, OlderCatalogError, require_current
from lineage.catalog.trouble import CatalogError
from lineage.policy.model import Policy
from service.cli.commands.options import DataDir
from service.cli.terminal import escape_control
from service.errors import RejectedInputError
from service.runtime.data_folder import require_not_running, restrict_permissions
from service.runtime.roles import role_commands, role_environment, with_free_ports
from service.runtime.settings import Settings, read_settings
from service.runtime.startup_checks import (
    require_guarded_service,
    require_java,
    require_role_settings,
)
from service.runtime.supervisor import Supervisor

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: DataDir = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file [LINEWARD_POLICY, else the defaults].")
    ] = None,
    *,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Accept requests from other machines without tokens [LINEWARD_INSECURE].",
        ),
    ] = False,
) -> None:
    """Run collector, pipeline and service until Ctrl-C; a role that exits is restarted."""
    os.umask(0o077)
    settings = read_settings(data_dir)
    if insecure:
        settings = msgspec.structs.replace(settings, insecure=True)
    require_role_settings(settings)
    if policy is not None:
        settings = msgspec.structs.replace(settings, policy=policy)
    require_guarded_service(settings, _policy(settings))
    require_java()
    require_not_running(settings.data_dir)
    settings = with_free_ports(settings)
    for warning in restrict_permissions(settings.data_dir):
        _say(warning)
    supervisor = Supervisor(
        role_commands(settings), settings.data_dir, role_environment(settings), _say
    )
    supervisor.run(
        before=lambda: _migrate(settings), on_accepting=lambda: _say(_addresses(settings))
    )
    _say("stopped")


def _policy(settings: Settings) -> Policy:
    from service.runtime.policies import read_accepted_policy  # noqa: PLC0415 - YAML only where a policy is

    return read_accepted_policy(settings)


def _migrate(settings: Settings) -> None:
    """Bring the catalog to this release's schema before any role works with it.

    One that cannot be reached or read keeps no event out: the collector needs no catalog, and the
    other roles wait for it.

    Raises:
        RejectedInputError: a newer release has upgraded it.
    """
    try:
        require_current(settings.catalog)
    except OlderCatalogError:
        _upgrade(settings)
    except NewerCatalogError as error:
        raise RejectedInputError(str(error)) from error
    except CatalogError as error:
        _say(f"{error}. Events are taken; the other roles wait for the catalog")


def _upgrade(settings: Settings) -> None:
    # Half a second of imports that most starts do without.
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from lineage.catalog.engine import migrate, open_catalog  # noqa: PLC0415

    engine = open_catalog(settings.catalog)
    try:
        migrate(engine)
    except (SQLAlchemyError, CatalogError) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        _say(f"the catalog cannot be upgraded yet: {reason}. The pipeline tries again")
    finally:
        engine.dispose()


def _say(text: str) -> None:
    """Print a text; a closed terminal or a full disk stops no role."""
    with suppress(OSError):
        typer.echo("\n".join(escape_control(line) for line in text.splitlines()))


def _marquez(settings: Settings) -> str:
    url = settings.marquez_url
    return f"  Marquez   {url}   (forwarded to, pulled from)\n" if url else ""


def _addresses(settings: Settings) -> str:
    return f"""Open {settings.service_url}/   (ready in about half a minute)
Lineward is up on {settings.data_dir.absolute()}; Ctrl-C stops it
  events    {settings.own_collector}/api/v1/lineage   (OpenLineage, as to Marquez)
  API       {settings.service_url}/schema
  metrics   {settings.metrics_url}/metrics   (figures follow once Spark has started)
{_marquez(settings)}  logs      {settings.data_dir.absolute() / "logs"}
  ask       lineward status --data-dir {settings.data_dir}"""
