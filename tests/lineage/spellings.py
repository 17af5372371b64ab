"""Spellings of dataset names, and the one name that each is folded to."""

from hypothesis import strategies as st

# (namespace, name) as sent, (namespace, name) as folded
FOLDED = [
    # one bucket by every driver
    (("s3a://b", "lake/orders"), ("s3://b", "lake/orders")),
    (("s3n://b", "lake/orders/"), ("s3://b", "lake/orders")),
    (("s3://b/", "/lake/orders"), ("s3://b", "lake/orders")),
    (("s3a://b", "/"), ("s3://b", "/")),
    (("s3://b", ""), ("s3://b", "/")),
    (("etl", "s3a://b/lake/orders"), ("s3://b", "lake/orders")),
    (("", "s3://b"), ("s3://b", "/")),
    (("s3://b", "s3a://b/lake/orders"), ("s3://b", "lake/orders")),
    (("s3a://b/warehouse", "default.orders"), ("s3://b/warehouse", "default.orders")),
    (("gs://b", "/lake/orders//"), ("gs://b", "lake/orders")),
    (("gcs://b", "lake/orders"), ("gs://b", "lake/orders")),
    (("abfs://c@a.dfs.core.windows.net", "/x"), ("abfss://c@a.dfs.core.windows.net", "x")),
    (("wasb://c@a.blob.core.windows.net", "x/"), ("wasbs://c@a.blob.core.windows.net", "x")),
    (("", "abfss://c@a.dfs.core.windows.net/x"), ("abfss://c@a.dfs.core.windows.net", "x")),
    # files
    (("file:", "/lake/x"), ("file", "/lake/x")),
    (("file://", "/lake/x/"), ("file", "/lake/x")),
    (("file:///", "/lake/x"), ("file", "/lake/x")),
    (("file://localhost", "/lake/x"), ("file", "/lake/x")),
    (("file", "file:///lake/x"), ("file", "/lake/x")),
    (("file", "file:/lake/x"), ("file", "/lake/x")),
    (("", "file://localhost/lake/x"), ("file", "/lake/x")),
    (("file", "//lake/x"), ("file", "/lake/x")),
    (("file", "file://host7/lake/x"), ("file://host7", "/lake/x")),
    (("file:///lake/wh", "default.agg"), ("file:/lake/wh", "default.agg")),
    (("dbfs:", "/mnt/x"), ("dbfs", "/mnt/x")),
    (("dbfs:/", "/mnt/x/"), ("dbfs", "/mnt/x")),
    (("", "dbfs:/mnt/x"), ("dbfs", "/mnt/x")),
    (("hdfs://nn:8020/", "/wh/t1/"), ("hdfs://nn:8020", "/wh/t1")),
    (("spark", "hdfs://nn:8020/wh/t1"), ("hdfs://nn:8020", "/wh/t1")),
    # servers of tables
    (("postgresql://h:5432", "shop.public.t"), ("postgres://h:5432", "shop.public.t")),
    (("postgresql://h:5432/shop", "public.t"), ("postgres://h:5432", "shop.public.t")),
    (("jdbc:postgresql://h/shop?ssl=true", "public.t"), ("postgres://h:5432", "shop.public.t")),
    (("jdbc:postgresql://u:p@h/shop", "shop.public.t"), ("postgres://h:5432", "shop.public.t")),
    (("postgres://u:p/w@h:5433/shop", "public.t"), ("postgres://h:5433", "shop.public.t")),
    (("mysql://h/shop", "t"), ("mysql://h:3306", "shop.t")),
    (("jdbc:mysql:loadbalance://h1,h2/shop", "t"), ("mysql://h1,h2", "shop.t")),
    (
        ("jdbc:sqlserver://h;user=u;password=p;databaseName=shop", "dbo.t"),
        ("sqlserver://h:1433", "shop.dbo.t"),
    ),
    (("jdbc:sqlserver://h:1433;password=p", "dbo.t"), ("sqlserver://h:1433", "dbo.t")),
    (("jdbc:oracle:thin:u/p@//h:1521/svc", "s.t"), ("oracle://h:1521", "svc.s.t")),
    (("oracle:thin:@h:1521:sid", "s.t"), ("oracle://h:1521", "sid.s.t")),
    (("oracle://h/svc", "s.t"), ("oracle://h:1521", "svc.s.t")),
    (("redshift://c.eu-west-1", "d.s.t"), ("redshift://c.eu-west-1:5439", "d.s.t")),
    (("jdbc:sqlite:/data/src.db?mode=ro", "t"), ("sqlite:/data/src.db", "t")),
    (("snowflake://org-acct/?warehouse=w", "d.s.t"), ("snowflake://org-acct", "d.s.t")),
    (("bigquery://", "p.d.t"), ("bigquery", "p.d.t")),
    # partitions, snapshots and files of a dataset
    (("file", "/lake/orders/dt=2026-11-21"), ("file", "/lake/orders")),
    (("file", "/lake/orders/dt=2026-11-21/hour=04/"), ("file", "/lake/orders")),
    (("s3a://b", "lake/orders/year=2026/month=11"), ("s3://b", "lake/orders")),
    (("file", "/lake/orders/20261121"), ("file", "/lake/orders")),
    (("file", "/lake/orders/2026/11/21"), ("file", "/lake/orders")),
    (("file", "/lake/orders/2026/11"), ("file", "/lake/orders")),
    (("file", "/lake/orders/2026-11-21T10:00:00Z"), ("file", "/lake/orders")),
    (("file", "/lake/orders/2026112104"), ("file", "/lake/orders")),
    (("file", "/lake/orders/21.11.2026"), ("file", "/lake/orders")),
    (("file", "/lake/orders/2026-11"), ("file", "/lake/orders")),
    (("file", "/landing/orders/2026-11-21.csv.gz"), ("file", "/landing/orders")),
    (("file", "/lake/orders/dt=2026-11-21/part-00003-ab.c000.parquet"), ("file", "/lake/orders")),
    (("file", "/lake/orders/part-00003-ab.c000.parquet"), ("file", "/lake/orders")),
    (("file", "/lake/orders/*.parquet"), ("file", "/lake/orders")),
    (("file", "/lake/orders/_delta_log"), ("file", "/lake/orders")),
    (("file", "/lake/orders/_delta_log/00000000000000000007.json"), ("file", "/lake/orders")),
    (("file", "/lake/orders/metadata/v7.metadata.json"), ("file", "/lake/orders")),
    (("file", "/lake/orders@v12"), ("file", "/lake/orders")),
    (("file", "/lake/orders@v12/dt=2026-11-21"), ("file", "/lake/orders")),
    (("hive://ms:9083", "db.orders.snapshot_id_108739"), ("hive://ms:9083", "db.orders")),
    (("file", "/lake/orders#snapshot=108739"), ("file", "/lake/orders")),
    (("file", "/lake/orders/d41d8cd98f00b204e9800998ecf8427e"), ("file", "/lake/orders")),
    # secrets
    (("s3n://KEY:SEC/RET@b", "x"), ("s3://b", "x")),
    (("", "s3n://KEY:SEC/RET@b/x"), ("s3://b", "x")),
    (("kafka://u:p@h:9092", "orders"), ("kafka://h:9092", "orders")),
    (("s3://K:S@b", "x"), ("s3://b", "x")),
    (('jdbc:oracle:thin:u/p"@x@//h/svc', "s.t"), ("oracle://h:1521", "svc.s.t")),
    (
        (
            "jdbc:oracle:oci8:u/p@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=2))(CONNECT_DATA=(SID=s)))",
            "t",
        ),
        ("oracle://h:2", "s.t"),
    ),
    (("jdbc:oracle:thin:@tcps://h:2484/svc?wallet=x", "s.t"), ("oracle://h:2484", "svc.s.t")),
    (("oracle://scott/tiger@h/svc", "s.t"), ("oracle://h:1521", "svc.s.t")),
    (
        ("jdbc:mysql://(host=h,port=3307,user=u,password=p)/shop", "t"),
        ("mysql://h:3307", "shop.t"),
    ),
    (
        (
            "jdbc:mysql://address=(host=a)(port=1)(password=p),address=(host=b)(port=2)/shop?x=y",
            "t",
        ),
        ("mysql://a:1,b:2", "shop.t"),
    ),
    (("jdbc:db2://h:50000/DB:user=u;password=p;", "s.t"), ("db2://h:50000", "DB.s.t")),
    (
        ("jdbc:informix-sqli://h:9088/db:INFORMIXSERVER=i;user=u;password=p", "o.t"),
        ("informix://h:9088", "db.o.t"),
    ),
    (
        ("jdbc:teradata://h/DATABASE=sales,DBS_PORT=1026,USER=u,PASSWORD=p", "t"),
        ("teradata://h:1026", "sales.t"),
    ),
    (
        ("jdbc:sqlserver://;serverName=h;databaseName=d;password=p", "dbo.t"),
        ("sqlserver://h:1433", "d.dbo.t"),
    ),
    (("jdbc:jtds:sqlserver://h/d;password=p", "dbo.t"), ("sqlserver://h:1433", "d.dbo.t")),
    (
        ("jdbc:redshift:iam://c.eu-west-1/dev?SecretAccessKey=p", "s.t"),
        ("redshift://c.eu-west-1:5439", "dev.s.t"),
    ),
    (("jdbc:clickhouse:https://u:p@h:8443/db", "t"), ("clickhouse://h:8443", "db.t")),
    (("jdbc:databricks://h:443/default;UID=token;PWD=p", "t"), ("databricks://h:443/default", "t")),
    (("jdbc:trino://u:p@h:443/cat/sch", "t"), ("trino://h:443/cat/sch", "t")),
    (("jdbc:nodb://h/db:user=u;password=p", "t"), ("jdbc:nodb://h/db", "t")),
    (("jdbc:nodb:db,user=u,password=p", "t"), ("jdbc:nodb:db", "t")),
    (("postgres://u:p?w@h/shop", "public.t"), ("postgres://h:5432", "shop.public.t")),
    (("https://u:p@h/x?X-Amz-Signature=SEC", "y"), ("https://h/x", "y")),
    (("etl", "https://h/x.csv?sv=1&sig=SEC"), ("etl", "https://h/x.csv")),
    (("https://SEC@github.com/o/r", "x"), ("https://github.com/o/r", "x")),
    (("etl", "https://u:p@h/x"), ("etl", "https://h/x")),
    (("file", "a\x00b"), ("file", "a\ufffdb")),
]

# what looks like a spelling of something else, and is a dataset of its own
KEPT = [
    ("file", "/lake/orders"),
    ("file", "/20261121"),
    ("s3://b", "20261121"),
    ("s3://b", "dt=2026-11-21"),
    ("s3://b", "/"),
    ("file", "/lake/orders_2024"),
    ("file", "/lake/orders_20261121"),
    ("file", "/lake/census/2020"),
    ("file", "/lake/20261399"),
    ("file", "/lake/rdd_out1795226795"),
    ("file", "/lake/env=prod/orders"),
    ("s3://b", "unity/tables/5f0c6c0e-7c3e-4b6f-9f0a-0c1d2e3f4a5b"),
    ("bigquery", "p.d.orders_20261121"),
    ("hive://ms:9083", "db.orders"),
    ("hive://ms:9083", "db.orders.snapshots"),
    ("kafka://h:9092", "orders.2026"),
    ("sqlite:/data/src.db", "t"),
    ("postgres://h:5432", "shop.public.t"),
    ("sqlserver://h\\instance", "shop.dbo.t"),
    ("hdfs://nn:8020", "/user/hive/warehouse/t1"),
    ("abfss://c@a.dfs.core.windows.net", "x"),
    ("file.localhost", "file://localhost/in_file1.txt"),
    ("https://api", "v1/search?q=a"),
    ("https://h:8080/users/@me", "x"),
    ("abfss://c@a.dfs.core.windows.net", "tokens/key=1/x"),
    ("grandmas.kitchen", "apples"),
    ("", ""),
]

_SCHEMES = [
    *("s3://", "s3a://", "gs://", "abfss://", "wasb://", "hdfs://", "file:", "file://", "file:///"),
    *("dbfs:", "jdbc:", "postgresql://", "mysql://", "sqlserver://", "oracle:thin:", "sqlite:"),
    *("jdbc:oracle:thin:@", "snowflake://", "http://", "u:p@", "@", "?user=u", ";password=p"),
]
_PARTS = [
    *("b", "h:5432", "h", "/db", "//", "/", "/lake", "/orders", "x", "a.b", "a=b", "=", "?", ";"),
    *("/dt=2026-11-21", "/hour=04", "/20261121", "/2026/11/21", "/2026-11", "/2026", "/*", "@v3"),
    *("/2026-11-21T10", "/part-00001-x.parquet", "/_delta_log", "/_delta_log/1.json"),
    *("/metadata/v1.metadata.json", "#snapshot-1", ".snapshot_id_12", ";databaseName=d"),
    "/d41d8cd98f00b204e9800998ecf8427e",
]
# Letters that case-insensitive, word or line-end matching takes differently in Java and Python.
_ODD = ["é", "世", "\U0001f600", "\u0130", "\u017f", "\u212a", "\u0661", "\u2028", "\x85"]
_PIECES = st.sampled_from(_SCHEMES + _PARTS + _ODD + [" ", "\n", "\r", "\x00"])
_TEXTS = st.lists(_PIECES, max_size=7).map("".join) | st.text(max_size=12)

spellings = st.tuples(_TEXTS, _TEXTS)
