"""What is committed is what is made, and is whole."""

import re
from decimal import Decimal

import msgspec
import pytest
import yaml
from grafana_foundation_sdk.cog.plugins import register_default_plugins

from dashboards.grafana import links, provisioning
from dashboards.grafana.rendering import as_json, boards, rendered
from dashboards.grafana.sdk import models
from lineage.policy import DEFAULT
from lineage.policy.reading import parse
from runbooks.library import page_names
from service.app import create_app
from service.settings import Settings
from tests.dashboards.boards import GENERATED, UIDS, board, every_panel, panels, wrong_with

_VARIABLE = re.compile(r"\$\{?([a-z_]+)")
_BUILT_IN = {"__url_time_range", "__data"}


def test_what_is_committed_is_what_is_made():
    """To the byte: `lineward render dashboards --out dashboards/grafana/generated` makes it."""
    made = provisioning.files(rendered(DEFAULT))

    assert {path.name: path.read_text("utf-8") for path in GENERATED.iterdir()} == made


@pytest.mark.parametrize("uid", UIDS)
def test_the_sdk_reads_what_it_wrote(uid):
    """Read and written again, nothing is lost and nothing is added."""
    register_default_plugins()

    assert as_json(models.Dashboard.from_json(board(uid))) == (GENERATED / f"{uid}.json").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("uid", UIDS)
def test_every_panel_stands_by_itself_with_all_that_a_reader_needs(uid):
    """Ids of their own, no overlap; unit, description, a word in grey for no sample, a link."""
    assert wrong_with(board(uid)) == []


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("id",), 3, "two panels have the id 3"),
        (("gridPos", "x"), 1, "two panels cover (4, 1)"),
        (("gridPos", "w"), 99, "a panel leaves the grid"),
        (("description",), "", "no description"),
        (("links",), [], "no link"),
        (("fieldConfig", "defaults", "unit"), "", "no unit"),
        (("fieldConfig", "defaults", "noValue"), "0", "no word for no sample"),
        (("fieldConfig", "defaults", "mappings"), [], "no grey for no sample"),
        (("links", 0, "url"), "/d/gone", "no dashboard behind a link"),
    ],
)
def test_what_a_panel_lacks_is_seen(path, value, said):
    """Each of these takes one thing away from the first panel."""
    document = board("lineward-executive")
    *way, last = path
    place = document["panels"][1]
    for step in way:
        place = place[step]
    place[last] = value

    assert [word for word in wrong_with(document) if said in word]


@pytest.mark.parametrize("uid", UIDS)
def test_titles_are_unique(uid):
    """Whoever says a title means one panel."""
    titles = [panel["title"] for panel in panels(uid)]

    assert len(set(titles)) == len(titles)


def test_links_lead_to_what_is_there():
    """Dashboards of ours, runbooks that are written, pages that the service has."""
    routes = create_app(Settings()).routes
    served = {re.sub(r"\{[^}]*\}", "{}", route.path) for route in routes}
    for _, panel in every_panel():
        told = [*panel["links"], *panel["fieldConfig"]["defaults"].get("links", [])]
        for url in (link["url"] for link in told):
            if url.startswith("/d/"):
                assert re.split(r"[/?]", url)[2] in UIDS
                continue
            path = url.removeprefix(links.BASE).partition("?")[0]
            if path.startswith("/runbooks/") and "$" not in path:
                assert path.removeprefix("/runbooks/") in page_names()
            else:
                assert re.sub(r"\$\{.*\}$", "{}", path) in served
    for uid in UIDS:
        onward = {link["url"] for link in board(uid)["links"]}
        assert onward == {f"/d/{other}" for other in UIDS if other != uid} | {"${lineward}/"}


@pytest.mark.parametrize("uid", UIDS)
def test_every_variable_that_is_used_is_declared(uid):
    """In queries, links and annotations; and the four that people filter by are there."""
    document = board(uid)
    declared = {one["name"] for one in document["templating"]["list"]}
    used = set(_VARIABLE.findall((GENERATED / f"{uid}.json").read_text("utf-8"))) - _BUILT_IN

    assert {"tier", "owner", "dataset_namespace", "dataset"} <= declared
    assert used <= declared | {"__all"}
    names = [one["name"] for one in document["annotations"]["list"]]
    assert names == ["Incidents", "Suppression windows", "Deployments"]


def test_thresholds_are_the_policys():
    """An objective that the policy changes is the colour's limit; the address is in the links."""
    policy = parse("objectives: {coverage: {critical: 0.9}, missing_provenance: {critical: 0.95}}")

    made = rendered(policy, "https://lineward.example")

    first = msgspec.json.decode(made["lineward-executive"])["panels"][1]
    assert [step["value"] for step in first["fieldConfig"]["defaults"]["thresholds"]["steps"]] == [
        None,
        float(Decimal("0.9")),
    ]
    reads = next(
        panel
        for panel in msgspec.json.decode(made["lineward-executive"])["panels"]
        if panel["title"] == "Reads of data of unknown origin"
    )
    assert reads["fieldConfig"]["defaults"]["thresholds"]["steps"][1]["value"] == 0.05
    assert '"query": "https://lineward.example"' in made["lineward-executive"]


def test_the_first_row_needs_no_scrolling():
    """Six figures, at the top, with nothing before them but their heading."""
    for uid in ("lineward-executive", "lineward-on-call"):
        first = panels(uid)[:6]
        assert {panel["type"] for panel in first} == {"stat"}
        assert {panel["gridPos"]["y"] for panel in first} == {1}


def test_config_maps_are_what_the_sidecar_looks_for():
    """One for each dashboard, labelled, whole, and below what kubectl can remember of one."""
    made = rendered(DEFAULT)
    maps = list(yaml.safe_load_all(provisioning.config_maps(made)))

    assert [one["metadata"]["labels"] for one in maps] == [{"grafana_dashboard": "1"}] * 3
    for one, (uid, text) in zip(maps, made.items(), strict=True):
        assert (one["kind"], one["data"]) == ("ConfigMap", {f"{uid}.json": text})
        assert len(text) < 200_000


def test_the_three_are_in_the_order_of_their_readers():
    """And there are no others."""
    assert tuple(one.uid for one in boards(DEFAULT)) == UIDS
