"""Committed dashboards: they equal the generated ones, and are complete."""

import re
from decimal import Decimal

import msgspec
import pytest
import yaml
from grafana_foundation_sdk.cog.plugins import register_default_plugins

from dashboards.grafana import links, outputs
from dashboards.grafana.rendering import as_json, boards, render_document
from dashboards.grafana.sdk import models
from lineage.policy import DEFAULT
from lineage.policy.reading import parse_policy
from runbooks.library import page_names
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.dashboards.boards import (
    GENERATED,
    UIDS,
    board,
    data_links,
    every_panel,
    find_problems,
    panels,
)

_VARIABLE = re.compile(r"\$\{?([a-z_]+)")
_BUILT_IN = {"__url_time_range", "__data"}


def test_committed_dashboards_equal_generated_ones():
    """Compare bytes.

    `lineward render dashboards --out dashboards/grafana/generated` writes the files.
    """
    made = outputs.files(render_document(DEFAULT))

    assert {path.name: path.read_text("utf-8") for path in GENERATED.iterdir()} == made


@pytest.mark.parametrize("uid", UIDS)
def test_the_sdk_reads_its_own_output(uid):
    """Read and write them again without a difference."""
    register_default_plugins()

    assert as_json(models.Dashboard.from_json(board(uid))) == (GENERATED / f"{uid}.json").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("uid", UIDS)
def test_every_panel_is_complete(uid):
    """Check ids, overlaps, unit, description, grey text for no sample, and links."""
    assert find_problems(board(uid)) == []


@pytest.mark.parametrize(
    ("path", "value", "text"),
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
def test_a_missing_property_of_a_panel_is_found(path, value, text):
    """Remove one property of the first panel in each case."""
    document = board("lineward-executive")
    *way, last = path
    place = document["panels"][1]
    for step in way:
        place = place[step]
    place[last] = value

    assert [word for word in find_problems(document) if text in word]


@pytest.mark.parametrize("uid", UIDS)
def test_titles_are_unique(uid):
    """Identify a panel by its title."""
    titles = [panel["title"] for panel in panels(uid)]

    assert len(set(titles)) == len(titles)


def test_links_lead_to_existing_pages():
    """Check links to own dashboards, to existing runbooks, and to pages of the service."""
    routes = create_app(Settings()).routes
    served = {re.sub(r"\{[^}]*\}", "{}", route.path) for route in routes}
    for _, panel in every_panel():
        for url in (link["url"] for link in [*panel["links"], *data_links(panel)]):
            if url.startswith("/d/"):
                assert re.split(r"[/?]", url)[2] in UIDS
                continue
            path = url.removeprefix(links.BASE).partition("?")[0]
            if path.startswith("/runbooks/") and "$" not in path:
                assert path.removeprefix("/runbooks/") in page_names()
            else:
                assert re.sub(r"\$\{.*\}$", "{}", path) in served
    for uid in UIDS:
        onward = {link["url"].partition("?")[0] for link in board(uid)["links"]}
        assert onward == {f"/d/{other}" for other in UIDS if other != uid} | {"${lineward}/"}


def test_a_dashboard_passes_on_what_the_other_can_take():
    """Pass tier and owner, but no datasets to a dashboard of one, and no month to on-call."""
    for uid in UIDS:
        document = board(uid)
        answer = document["links"] + [link for panel in panels(uid) for link in panel["links"]]
        for link in answer:
            onward = re.match(r"/d/([a-z-]+)\?(.*)", link["url"])
            if onward is None:
                continue
            other, carried = onward.groups()
            timed = "&${__url_time_range}" if "lineward-executive" not in {uid, other} else ""
            assert carried == "${tier:queryparam}&${owner:queryparam}" + timed
            assert (link["includeVars"], link["keepTime"]) == (False, False)
        assert "placement" not in (GENERATED / f"{uid}.json").read_text("utf-8")


@pytest.mark.parametrize("uid", UIDS)
def test_chosen_values_stay_chosen(uid):
    """Query values once: at each refresh Grafana would replace a value that is no option now."""
    asked = [one for one in board(uid)["templating"]["list"] if one["type"] == "query"]

    assert [one["name"] for one in asked] == ["tier", "owner", "dataset_namespace", "dataset"]
    assert {one["refresh"] for one in asked} == {1}  # at the dashboard's load
    by = "=" if uid == "lineward-debug" else "=~"
    assert f'{{dataset_namespace{by}"$dataset_namespace"}}' in asked[-1]["query"]


def test_the_menu_of_a_node_has_each_link_once():
    """Set links on one field: the panel's own would repeat for each field, and for edges."""
    (panel,) = [panel for _, panel in every_panel() if panel["type"] == "nodeGraph"]

    assert not panel["fieldConfig"]["defaults"].get("links")
    (override,) = panel["fieldConfig"]["overrides"]
    assert override["matcher"] == {"id": "byName", "options": "dataset"}
    titles = [link["title"] for link in data_links(panel)]
    assert titles == ["Dataset in the explorer", "Lineage and runs"]


def test_a_table_begins_with_the_most_severe_and_shows_names_as_text():
    """Sort by existing columns; show a dataset called `2024` as text."""
    for _, panel in every_panel():
        if panel["type"] != "table" or panel["title"] == "Recent runs":
            continue
        shown = panel["transformations"][-1]["options"]
        columns = [shown["renameByName"].get(name, name) for name in shown["indexByName"]]
        by = [one["displayName"] for one in panel["options"]["sortBy"]]
        assert by, panel["title"]
        assert set(by) <= set(columns), panel["title"]
        as_text = {
            one["matcher"]["options"]
            for one in panel["fieldConfig"]["overrides"]
            if {"id": "unit", "value": "string"} in one["properties"]
        }
        assert as_text == set(shown["indexByName"]) - set(shown["renameByName"])


@pytest.mark.parametrize("uid", UIDS)
def test_every_variable_that_is_used_is_declared(uid):
    """Check queries, links and annotations, and the four filters."""
    document = board(uid)
    declared = {one["name"] for one in document["templating"]["list"]}
    used = set(_VARIABLE.findall((GENERATED / f"{uid}.json").read_text("utf-8"))) - _BUILT_IN

    assert {"tier", "owner", "dataset_namespace", "dataset"} <= declared
    assert used <= declared | {"__all"}
    names = [one["name"] for one in document["annotations"]["list"]]
    assert names == ["Incidents", "Suppression windows", "Deployments"]


def test_thresholds_are_the_policys():
    """Set the colour's limit by a changed objective, and the address in the links."""
    policy = parse_policy(
        "objectives: {coverage: {critical: 0.9}, missing_provenance: {critical: 0.95}}"
    )

    made = render_document(policy, "https://lineward.example")

    first = msgspec.json.decode(made["lineward-executive"])["panels"][1]
    assert [step["value"] for step in first["fieldConfig"]["defaults"]["thresholds"]["steps"]] == [
        None,
        float(Decimal("0.9")),
    ]
    reads = next(
        panel
        for panel in msgspec.json.decode(made["lineward-executive"])["panels"]
        if panel["title"] == "Unsourced reads"
    )
    assert reads["fieldConfig"]["defaults"]["thresholds"]["steps"][1]["value"] == 0.05
    assert '"query": "https://lineward.example"' in made["lineward-executive"]


def test_the_first_row_needs_no_scrolling():
    """Place six figures at the top, below their heading."""
    for uid in ("lineward-executive", "lineward-on-call"):
        first = panels(uid)[:6]
        assert {panel["type"] for panel in first} == {"stat"}
        assert {panel["gridPos"]["y"] for panel in first} == {1}


def test_config_maps_match_the_sidecar():
    """Write one per dashboard, labelled, complete, and below kubectl's size limit."""
    made = render_document(DEFAULT)
    maps = list(yaml.safe_load_all(outputs.config_maps(made)))

    assert [one["metadata"]["labels"] for one in maps] == [{"grafana_dashboard": "1"}] * 3
    for one, (uid, text) in zip(maps, made.items(), strict=True):
        assert (one["kind"], one["data"]) == ("ConfigMap", {f"{uid}.json": text})
        assert len(text) < 200_000


def test_the_three_are_in_the_order_of_their_readers():
    """List these three alone."""
    assert tuple(one.uid for one in boards(DEFAULT)) == UIDS
