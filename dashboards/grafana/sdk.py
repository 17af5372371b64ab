"""SDK's dashboards: it warns at the import of the schema that all Grafanas read."""

import warnings

with warnings.catch_warnings():
    # The newer schema that it recommends is a preview; Grafana 13 goes on reading this one.
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models import dashboard as models

__all__ = ["dashboard", "models"]
