"""`lineward render dashboards`: Grafana's dashboards as code, thresholds from the policy."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from service.cli.commands.render_alerts import LinewardUrl, PolicyOption, policy_in, public_address
from service.cli.terminal import plain_lines
from service.errors import RejectedInputError


class _Form(StrEnum):
    FILES = "files"
    CONFIGMAP = "configmap"
    OUTLINE = "outline"


_SINGLE = {
    _Form.CONFIGMAP: "lineward-dashboards-configmap.yaml",
    _Form.OUTLINE: "lineward-dashboards.md",
}


def dashboards(
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; without it they are printed.")
    ] = None,
    form: Annotated[
        _Form,
        typer.Option(
            "--format", help="Files to provision, ConfigMaps for the sidecar, or text to read."
        ),
    ] = _Form.FILES,
    policy: PolicyOption = None,
    lineward_url: LinewardUrl = None,
    path: Annotated[
        str | None, typer.Option(help="Path of the folder inside Grafana, for the provider.")
    ] = None,
) -> None:
    """Write Grafana's dashboards: executive, on-call, debug."""
    from dashboards.grafana import outputs  # noqa: PLC0415 - the SDK only where it is used

    found = rendered_dashboards(policy, lineward_url)
    if form is _Form.FILES:
        _write(out, outputs.files(found, path or outputs.PLACE))
        return
    name, text = _SINGLE[form], _text(form, found)
    if out is None:
        sys.stdout.write(text)
    else:
        _write(out, {name: text})


def _text(form: _Form, found: dict[str, str]) -> str:
    from dashboards.grafana import outputs  # noqa: PLC0415 - as above

    return outputs.config_maps(found) if form is _Form.CONFIGMAP else outputs.outlines(found)


def rendered_dashboards(policy: Path | None, lineward_url: str | None) -> dict[str, str]:
    """Return JSON by uid for the given policy and address, or for those of the settings."""
    from dashboards.grafana.rendering import render_document  # noqa: PLC0415 - as above

    return render_document(policy_in(policy), public_address(lineward_url))


def _write(out: Path | None, files: dict[str, str]) -> None:
    if out is None:
        message = "--out: name a folder for the files, or give --format configmap"
        raise RejectedInputError(message)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"--out: {out} cannot be written: {error.strerror}"
        raise RejectedInputError(message) from error
    plain_lines(str(out / name) for name in files)
