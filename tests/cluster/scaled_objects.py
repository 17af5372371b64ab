"""Values and Secrets of an installation in scaled mode whose pods are processes."""

from tests.cluster.engines import BUCKET, PASSWORD, TOPIC, Engines
from tests.cluster.networks import ADDRESSES
from tests.helm.charts import Manifest

_DRIVER = {"cores": 1, "memory": "1g"}
KEY = "R" * 32  # of PagerDuty
AUTHORITY = "pagerduty-authority"  # ConfigMap
_LONG = "0123456789abcdef0123456789abcdef"
SENDER, READER = f"sender-{_LONG}", f"reader-{_LONG}"  # tokens
POLICY = """
owners:
  - {name: sales, pagerduty_key_file: sales.key}
datasets:
  - {match: "shop/orders*", tier: critical, owner: sales, limit: 1m}
sources: ["shop/raw"]
access:
  tokens:
    - name: people
      token_file: /etc/lineward/secrets/lineward-reader/token
      roles: [read, admin]
...
"""


def secrets(engines: Engines) -> dict[str, dict[str, str]]:
    """Return what is in each Secret that the values name."""
    return {
        "lineward-collector": {"token": SENDER},
        "lineward-reader": {"token": READER},
        "lineward-sender-secret": {"secret": _LONG},
        "lineward-catalog": {"url": engines.catalog_url, "password": PASSWORD},
        "lineward-kafka": {"client.properties": "security.protocol=PLAINTEXT\n"},
        "lineward-lake": {"access-key": "k", "secret-key": "s"},
        "lineward-slack": {"token": "xoxb-of-nobody"},
        "lineward-pagerduty": {"sales.key": KEY},
    }


def values(engines: Engines) -> Manifest:
    """Return what differs from `ci/scaled-values.yaml`: addresses, sizes, and what is off."""
    pagerduty = {
        "LINEWARD_DELIVERY_PAGERDUTY_URL": engines.pagerduty.url,
        "LINEWARD_DELIVERY_PAGERDUTY_CA_FILE": "/etc/pagerduty/ca.pem",
    }
    trust = {
        "extraEnv": [{"name": name, "value": value} for name, value in pagerduty.items()],
        "extraVolumes": [{"name": "authority", "configMap": {"name": AUTHORITY}}],
        "extraVolumeMounts": [{"name": "authority", "mountPath": "/etc/pagerduty"}],
    }
    return {
        "policy": {"inline": POLICY},
        "log": {"kafka": {"bootstrap": engines.broker.bootstrap, "topic": TOPIC}},
        "lake": {"url": f"s3://{BUCKET}/production", "endpoint": engines.s3.endpoint},
        "kafkaSource": {"enabled": False},
        "marquez": {"enabled": False},
        "pipeline": {
            "driver": _DRIVER,
            "executor": {"instances": 2, "cores": 1, "memory": "512m"},
        },
        "service": {"pod": trust},
    }


def deployment_values(engines: Engines) -> Manifest:
    """Return what differs from `ci/scaled-deployment-values.yaml`, which is for AWS."""
    servers = [{"ipBlock": {"cidr": ADDRESSES}}]
    return {
        "access": {"secrets": ["lineward-reader"]},
        "catalog": {"passwordSecret": {"name": "lineward-catalog"}},
        "notifications": {"pagerduty": {"keysSecret": "lineward-pagerduty"}},
        "log": {"kafka": {"bootstrap": engines.broker.bootstrap, "topic": TOPIC}},
        "lake": {
            "url": f"s3://{BUCKET}/production",
            "endpoint": engines.s3.endpoint,
            "accessKeySecret": {"name": "lineward-lake"},
            "secretKeySecret": {"name": "lineward-lake"},
        },
        "pipeline": {"driver": _DRIVER},
        "networkPolicy": {"egress": {"s3": servers}},
    }
