"""Names with their patterns, for the rules in Python and in Spark."""

PATTERNED = (
    ("lake/orders", "lake/orders"),
    ("lake/orders_20261121", "lake/orders_{date}"),
    ("lake/orders_2026-11-21", "lake/orders_{date}"),
    ("lake/orders_2026112104", "lake/orders_{date}"),
    ("lake/orders_2026-11-21T04:15:00Z", "lake/orders_{date}"),
    ("lake/orders_2026/11/21/raw", "lake/orders_{date}/raw"),
    ("lake/orders_202611", "lake/orders_{month}"),
    ("lake/orders_2026-11/raw", "lake/orders_{month}/raw"),
    ("lake/orders_20261399", "lake/orders_{n}"),
    ("lake/orders_7", "lake/orders_{n}"),
    ("shop.events_17", "shop.events_{n}"),
    ("run-01a1fd70-be43-78d1-b459-0afbbe310dfa/out", "run-{uuid}/out"),
    ("stage/9e107d9d372bb6826bd81d3542a419d6/x", "stage/{hash}/x"),
    ("stage/da39a3ee5e6b4b0d3255bfef95601890afd80709", "stage/{hash}"),
    ("stage/a1b2c3d", "stage/{id}"),
    ("tmp_x7f3kq", "tmp_{id}"),
    ("covid19/cases", "covid{n}/cases"),
    ("s3://lake17", "s3://lake{n}"),
    ("Ünïcode_2", "Ünïcode_{n}"),
)
