"""Questions to Lineward's API as the Infinity data source asks them; the SDK has no builder."""

from typing import Any, Final

from grafana_foundation_sdk.cog import builder, variants
from grafana_foundation_sdk.models.common import DataSourceRef

from dashboards.grafana.spec import ApiQuery, Column

TYPE: Final = "yesoreyeram-infinity-datasource"
SOURCE: Final = DataSourceRef(type_val=TYPE, uid="${infinity}")


class InfinityQuery(variants.Dataquery):
    """Query of the Infinity data source, as it stands in a dashboard."""

    def __init__(self, ref_id: str, asked: ApiQuery) -> None:
        self._ref_id = ref_id
        self._asked = asked

    def to_json(self) -> dict[str, Any]:
        """Parse the answer in Grafana's backend, so that alerts and shared dashboards work too."""
        return {
            "refId": self._ref_id,
            "datasource": SOURCE.to_json(),
            "type": "json",
            "source": "url",
            "parser": "backend",
            "format": self._asked.form,
            "url": self._asked.url,
            "url_options": {"method": "GET", "data": ""},
            "root_selector": self._asked.root,
            "columns": [_column(one) for one in self._asked.columns],
            "filters": [],
        }


class InfinityBuilder(builder.Builder[variants.Dataquery]):
    """Builder that the SDK's panels take."""

    def __init__(self, ref_id: str, asked: ApiQuery) -> None:
        self._built = InfinityQuery(ref_id, asked)

    def build(self) -> InfinityQuery:
        """Build the query."""
        return self._built


def _column(one: Column) -> dict[str, str]:
    return {"selector": one.selector, "text": one.text or one.selector, "type": one.kind}
