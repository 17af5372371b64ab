"""Redaction: it leaves no secret of a connection or a message, for any user and password."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.names.names import fold
from lineage.redaction import (
    MESSAGE_CHARACTERS,
    READ_CHARACTERS,
    clear_name,
    clear_secrets,
    redact,
    redact_message,
    redact_sql,
)
from lineage.redaction.patterns import MESSAGES, SQL_SECRETS
from tests.suite.examples import is_long

# Each further password repeats the first ones: `make nightly` tries 100 with each text.
_FEW = settings(max_examples=100 if is_long() else 15)

# Passwords that may stand in a URL without encoding; none is a word of the URL itself.
_PASSWORDS = st.text("abcXYZ019!$*+-._~^%|'", min_size=6, max_size=24).map(lambda text: f"Q{text}Z")
_USERS = st.text("abc019._-", min_size=1, max_size=8)
_HOSTS = st.from_regex(r"h[a-z0-9]{1,6}(\.[a-z]{2,4})?", fullmatch=True)
_CONNECTIONS = [
    "jdbc:mysql://{u}:{p}@{h}:3306/db",
    "jdbc:mysql://(host={h},port=3306,user={u},password={p})/db",
    "jdbc:mysql://(password={p},user={u},host={h})/db",
    "jdbc:mysql://address=(host={h})(port=1)(user={u})(password={p})/db",
    "jdbc:mysql:replication://address=(type=master)(host={h})(password={p}),address=(host=b)/db",
    "jdbc:mysql://[(host={h},password={p}),(host=b,password={p})]/db",
    "jdbc:mysql:loadbalance://{u}:{p}@{h},b:1/db",
    "mysql+srv://{u}:{p}@{h}/db",
    "jdbc:mariadb://address=(host={h})(port=3306)(user={u})(password={p})/db",
    "jdbc:mariadb:aurora://{h}/db?user={u}&password={p}",
    "jdbc:db2://{h}:50000/DB:user={u};password={p};",
    "jdbc:db2://{h}:50000/DB:password={p};user={u};sslConnection=true;",
    "jdbc:db2:DB:user={u};password={p};",
    "jdbc:as400://{h}/lib;user={u};password={p}",
    "jdbc:teradata://{h}/DATABASE=s,USER={u},PASSWORD={p}",
    "jdbc:teradata://{h}/USER={u},PASSWORD={p}",
    "jdbc:informix-sqli://{h}:9088/db:INFORMIXSERVER=i;user={u};password={p}",
    "jdbc:oracle:thin:{u}/{p}@{h}:1521:sid",
    "jdbc:oracle:thin:{u}/{p}@//{h}:1521/svc",
    "jdbc:oracle:oci:{u}/{p}@{h}",
    "jdbc:oracle:thin:{u}/{p}@(DESCRIPTION=(ADDRESS=(HOST={h})(PORT=1))(CONNECT_DATA=(SID=x)))",
    "oracle://{u}/{p}@{h}:1521/svc",
    "jdbc:sqlserver://{h}:1433;databaseName=d;user={u};password={p}",
    "jdbc:sqlserver://;serverName={h};user={u};password={{{p}}}",
    "jdbc:jtds:sqlserver://{h}:1433/d;user={u};password={p}",
    "jdbc:snowflake://{h}/?user={u}&password={p}&private_key_file_pwd={p}",
    "jdbc:redshift:iam://{h}:5439/dev?AccessKeyID={u}&SecretAccessKey={p}",
    "jdbc:sap://{h}:30015/?user={u}&password={p}",
    "jdbc:vertica://{h}:5433/db?user={u}&password={p}",
    "jdbc:clickhouse:http://{u}:{p}@{h}:8123/db",
    "jdbc:ch://{h}/db?password={p}",
    "jdbc:databricks://{h}:443/default;AuthMech=3;UID=token;PWD={p}",
    "jdbc:spark://{h}:443/default;UID=token;PWD={p}",
    "jdbc:trino://{h}:443/cat?user={u}&password={p}&accessToken={p}",
    "jdbc:hive2://{h}:10000/db;user={u};password={p}?hive.x=1",
    "jdbc:h2:tcp://{h}/~/db;USER={u};PASSWORD={p}",
    "jdbc:derby://{h}:1527/db;user={u};password={p}",
    "jdbc:nodb://{u}:{p}@{h}/db",
    "jdbc:nodb://{h}/db:user={u};pw_token={p}",
    "jdbc:nodb:{h}:db,user={u},secret={p}",
    "postgres://{u}:{p}@{h}/db",
    "mongodb+srv://{u}:{p}@{h}/db",
    "kafka://{u}:{p}@{h}:9092",
    "https://{u}:{p}@{h}/x",
    "https://{p}@{h}/x",
    "https://{h}/x?sig={p}",
    "https://{h}/x?a=b&X-Amz-Credential={u}&X-Amz-Signature={p}",
    "https://{h}/x#access_token={p}",
    "wss://{h}/x?api_key={p}&b=c",
]


@pytest.mark.parametrize("connection", _CONNECTIONS)
@_FEW
@given(user=_USERS, password=_PASSWORDS, host=_HOSTS)
def test_no_password_is_in_any_name(connection, user, password, host):
    """Redact before a host, in parentheses, behind a colon, commas, `?` or `;`; twice is once."""
    sent = connection.format(u=user, p=password, h=host)

    folded = fold(sent, "s.t")
    as_name = fold("etl", sent)

    for found in (folded, as_name):
        assert password not in found.namespace + found.name
    assert fold(folded.namespace, folded.name).rules == ()
    # A URL without servers, which the driver gets elsewhere.
    assert host in folded.namespace or sent.startswith("jdbc:db2:DB")


# Passwords that no rule could take for another part: the rules are tested, not the parts.
_HIDDEN = [
    "Jdbc:MySql://u:{p}@h/db",
    "JDBC:MYSQL://h/db?password={p}",
    "JDBC:ORACLE:THIN:scott/{p}@h:1521:sid",
    " jdbc:mysql://u:{p}@h/db",
    "\tjdbc:oracle:thin:u/{p}@h:1:s",
    "url=jdbc:oracle:thin:u/{p}@h:1:s",
    "jdbc%3Aoracle%3Athin%3Au/{p}@h:1:s",
    "oracle+cx_oracle://u:{p}@h:1521/?service_name=x",
    "jdbc:oracle:kprb:u/{p}",
    "jdbc:weblogic:oracle:u/{p}@h",
    "jdbc:IRIS://h:1972/NS:u:{p}",
    "jdbc:IRIS://h:1972/USER/log.txt:::{p}",
    "jdbc:es://http://u:{p}@h:9200",
    "jdbc:opensearch://https://u:{p}@h:9200/",
    "https://h/v1?key={p}",
    "https://h/v1?a=b&code={p}",
    "https://h/v1?auth={p}",
    "https://h/v1?jwt={p}",
    "https://h/v1?session={p}",
    "https://h/v1?pat={p}",
    "https://h/v1?%70assword={p}",
    "https://h/v1?pass%77ord={p}",
    "https://h/v1?password%3D{p}",
    "https://h/v1?password%253D{p}",
    "https://h/v1?user=u%26password={p}",
    "https%3A%2F%2Fu%3A{p}%40h",
    "jdbc:postgresql://h/db%3Fpassword%3D{p}",
    "mssql+pyodbc:///?odbc_connect=DRIVER%3D%7BX%7D%3BUID%3Dsa%3BPWD%3D{p}",
    "Driver={{ODBC Driver 17}};Server=h;Database=d;Uid=u;Pwd={p};",
    "Server=tcp:h,1433;Database=d;User ID=u;Password={p};",
    "host=h port=5432 dbname=d user=u password={p}",
    "host=h password = '{p}' port=5432",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={p}==;EndpointSuffix=x",
    "AccountEndpoint=https://h:443/;AccountKey={p};",
    "cosmosdb:AccountEndpoint=https://h;AccountKey={p};",
    "Endpoint=sb://h/;SharedAccessKeyName=k;SharedAccessKey={p}=",
    "SharedAccessSignature sr=x&sig={p}&se=1",
    'kafka://h:9092?sasl.jaas.config=x username="u" password="{p}"',
    "s3://AKIAX:{p}@bucket",
    "s3a://AKIAX:{p}/x@bucket/path",
]


@pytest.mark.parametrize("connection", _HIDDEN)
@_FEW
@given(password=st.text("abcXYZ019", min_size=6, max_size=24).map(lambda text: f"Q{text}Z"))
def test_no_case_space_or_encoding_hides_a_password(connection, password):
    """Redact as a namespace, as a name, and with a table behind it; twice is once."""
    sent = connection.format(p=password)

    for given_names in ((sent, "s.t"), ("etl", sent), ("postgres://h:5432", f"{sent}.t")):
        folded = fold(*given_names)
        assert password not in folded.namespace + folded.name
        assert folded.rules != ()
        again = fold(folded.namespace, folded.name)
        assert (again.namespace, again.name) == (folded.namespace, folded.name)


@pytest.mark.parametrize(
    "name",
    [
        "s3://bucket/key=1/code=DE/session=7",
        "s3://bucket/token=5/dt=2026-11-21",
        "s3://bucket/a b/auth=none/100%25/x@y:z",
        "s3://arn:aws:s3:eu:1:accesspoint",
        "arn:aws:secretsmanager:eu:1:secret:x",
        "hive://h:9083/password_resets.tokens",
        "db.ghs_orders",
        "db.hf_metrics",
        "basic authentication_table",
        "urn:token:abc",
        " orders ",
        "JDBC:MYSQL://h:3306/db",
        "JDBC:ORACLE:THIN:@h:1521:sid",
        "Server=h;Database=d",
        "host=h port=5432 dbname=d",
        "https://h/x?page=2&sort=key",
        "https://h/a%20b?zip%20code=1",
        "abfss://c@a.dfs.core.windows.net/key=1",
        "bigquery:project.set.keys",
        "gs://bucket/user@example.com/x",
        "cache://h/x:y",
    ],
)
def test_a_name_without_a_secret_stays_as_it_is(name):
    """Keep it: a changed name is another dataset."""
    assert (clear_secrets(name), clear_name(name)) == (name, name)


@pytest.mark.parametrize(
    "message",
    [
        "FATAL: login failed, password={p}",
        'connection refused: {{"user": "a", "password": "{p}", "db": "x"}}',
        "Cannot connect to jdbc:postgresql://etl:{p}@db:5432/shop",
        "Cannot connect to jdbc:oracle:thin:scott/{p}@db:1521:sid",
        "jdbc:mysql://address=(host=h)(user=u)(password={p})/shop: timeout",
        "spark.hadoop.fs.s3a.secret.key={p}",
        "fs.azure.account.key.acct.blob.core.windows.net={p}",
        "Authorization: Bearer {p}",
        "authorization: basic {p}",
        "GET https://h/x?X-Amz-Signature={p} 403",
        "GET https://h/x?sv=2&sig={p}&x=1 403",
        "api_key: '{p}'",
        "--db-password={p} --verbose",
        "AWS_SECRET_ACCESS_KEY={p}",
        "token => {p}",
        "slack rejected xoxb-{p}",
        "key AKIA0123456789AB{p}",
        "git clone https://{p}@github.com/o/r failed",
        "git clone https://oauth2:{p}@gitlab.com/o/r failed",
        "ghp_0123456789{p}",
        "jwt eyJhbGciOi.eyJzdWIi.{p}",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{p}\n",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{p}",
        "Map(user -> x, password -> {p})",
        "List((user,etl), (password,{p}))",
        '{{\\"password\\": \\"{p}\\"}}',
        '{{"password": ["{p}"]}}',
        "password&quot;:&quot;{p}&quot;",
        "password\\u003d{p}",
        "password := {p}",
        "Authorization: Token {p}",
        "Authorization: ApiKey {p}",
        'Authorization: Snowflake Token="{p}"',
        "Authorization=[Bearer {p}]",
        "CREATE USER x IDENTIFIED BY '{p}'",
        "CREATE USER x IDENTIFIED BY {p} ACCOUNT UNLOCK",
        "ALTER USER x IDENTIFIED WITH mysql_native_password BY '{p}'",
        "ALTER USER x PASSWORD '{p}'",
        "mysql --password {p}",
        "sqlplus scott/{p}@db",
        "connect scott/{p}@//h:1521/svc",
        'df.option("password", "{p}").load()',
        "<db:password>{p}</db:password>",
        "SecretKey={p}",
        "encryption_key={p}",
        "Invalid API key: {p}",
        "Incorrect API key provided: {p}",
        "oracle+cx_oracle://u:{p}@h",
        "jdbc:es://http://u:{p}@h:9200",
        "jdbc:oracle:kprb:u/{p}",
        "jdbc:weblogic:oracle:u/{p}@h",
        "jdbc:IRIS://h:1972/NS:u:{p}",
        "GET https://h/v1?key={p}",
        "GET https://h/v1?a=b&code={p} 403",
        "password%3D{p}",
        "GET https://h/x?%70assword={p}%2C{p}",
        "https%3A%2F%2Fu%3A{p}%40h",
        "https://discord.com/api/webhooks/1/{p}",
    ],
)
@_FEW
@given(password=st.text("abcXYZ019_-", min_size=6, max_size=24).map(lambda text: f"Q{text}Z"))
def test_no_secret_is_in_any_message(message, password):
    shown = redact(message.format(p=password))

    assert password not in shown
    assert "[redacted]" in shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "message",
    [
        "mismatched input 'FROM' expecting {'SELECT', 'WITH'}(line 1, pos 7)",
        "Path does not exist: abfss://c@a.dfs.core.windows.net/x",
        "Column 'pass_rate' does not exist. Did you mean one of the following? [rate]",
        "No space left on device: /var/lib/x",
        "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.Task.run(Task.scala:147)",
        "mail to data@shop.example bounced",
        "error code=5, key=id, session: 7, auth=SIMPLE, 100%25 of a%20b",
        "INSERT INTO users (id, password, token) SELECT max(token,x), pass FROM t",
        "connect to a/b failed, identified 3 problems, see --token-file x and --all",
        "unexpected token 'FROM', expected <token> or </token>",
        "3 tests passed: 3, assigned: x, design=a, compass: north, tokenizer: bert, message: hi",
    ],
)
def test_other_messages_stay_as_they_are(message):
    assert redact(message) == message


@given(st.text(max_size=200))
def test_any_text_is_cleared_and_redacted_without_an_error(text):
    assert clear_secrets(clear_secrets(text)) == clear_secrets(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("limit", [MESSAGE_CHARACTERS, READ_CHARACTERS])
@pytest.mark.parametrize(
    "secret", ["jdbc:mysql://etl:{p}@h/db", "password={p}", "https://h/?sig={p}"]
)
def test_a_message_that_is_cut_keeps_no_piece_of_a_secret(limit, secret):
    """Redact before the cut; after it (mutant), no pattern recognizes `user:passw`."""
    password = "Qhunter2CANARYZ"  # noqa: S105 - none of ours
    text = secret.format(p=password)
    for place in range(limit - len(text) - 2, limit + 2):
        message = f"{'word ' * (place // 5)}{'w' * (place % 5 - 1)} {text} and more {'x ' * 9_000}"
        shown = redact_message(message[:READ_CHARACTERS])
        assert len(shown) <= MESSAGE_CHARACTERS
        assert "Qhun" not in shown


def test_a_long_message_without_a_secret_keeps_its_beginning():
    text = "no such column: a\n" * 1_000

    assert redact_message(text[:READ_CHARACTERS]) == text[:MESSAGE_CHARACTERS]
    assert redact_message(" " * READ_CHARACTERS) == ""


# Many beginnings of a secret, each of which a pattern tries.
_BEGINNINGS = [
    "password='",
    "password={",
    "x://a:b",
    "oracle:thin:",
    "-",
    "?",
    "%41",
    ",",
    "<",
    "://",
    "('''",
    "'a' as ",
    "\\'",
]


@pytest.mark.parametrize("beginning", _BEGINNINGS)
def test_a_long_text_of_beginnings_is_redacted(beginning):
    """Stay fast for a pattern that would read the rest of the text at each of them."""
    text = beginning * (250_000 // len(beginning)) + " password='Qhunter2Z'"

    assert "hunter2" not in redact(text)
    assert "hunter2" not in redact_sql(text)


@pytest.mark.parametrize("word", ["key", "auth", "code", "jwt", "session", "pat", "otp", "pin"])
@pytest.mark.parametrize("sign", ["?", "&"])
def test_a_query_without_a_host_is_redacted_too(sign, word):
    """Find the key of a secret behind either sign: no other sign is in the text."""
    assert redact(f"failed at a{sign}{word}=P4ss") == f"failed at a{sign}{word}=[redacted]"


_PATTERNS = list(dict.fromkeys(pattern for pattern, _ in (*MESSAGES, *SQL_SECRETS)))


@pytest.mark.parametrize("pattern", _PATTERNS, ids=range(len(_PATTERNS)))
@given(data=st.data())
@settings(max_examples=10)
def test_a_text_in_which_a_pattern_finds_a_secret_has_a_sign(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    """Store a text without a sign as it is: no pattern is tried."""
    secret = data.draw(st.from_regex(pattern))
    assert "[redacted]" in redact(secret) or "[redacted]" in redact_sql(secret)


_KEYS_ALONE = [
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "api_key"),
    *("accesskey", "account-key", "private_key", "credential", "authorization", "signature"),
    *("logdata", "pass", "sig", "sas", "jwt", "cred", "creds", "x-amz-a", "x-goog-a", "x-ms-a"),
]
_TOKENS_ALONE = [
    *("xoxb-1", "xapp-1", "AKIA12345678", "ASIA12345678", "AROA12345678", "AIDA12345678"),
    *("ghp_1", "gho_1", "ghu_1", "ghs_1", "ghr_1", "github_pat_1", "glpat-1", "dapi12345678"),
    *("sk-1", "sk_live_1", "sk_test_1", "rk_live_1", "whsec_1", "AIza1", "ya29.1", "npm_1"),
    *("pypi-1", "hf_1", "dop_v1_1", "hvs.1", "shpat_1", "glsa_1", "dckr_pat_1", "lin_api_1"),
    *("ATATT31", "SG.1", "eyJhbGci.eyJzdWIi"),
]


@pytest.mark.parametrize("text", [*(f"{key}=P4ss" for key in _KEYS_ALONE), *_TOKENS_ALONE])
def test_each_key_and_token_is_found_by_itself(text: str) -> None:
    """Test a text without any other sign."""
    assert redact(text).endswith("[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "pa\u017f\u017fword=hunter2",
        "s\u0131gnature=hunter2",
        "S\u0130GNATURE=hunter2",
        "\u0131dent\u0131f\u0131ed by 'hunter2'",
        "BAS\u0130C hunter2hunter2",
    ],
)
def test_a_letter_that_counts_as_another_hides_no_key(text: str) -> None:
    """Match the long s as an s, and Turkish letters as an i, as a pattern without case does."""
    assert "hunter2" not in redact(text)


@pytest.mark.parametrize(
    "sql",
    [
        "select 'hunter2' as password, a as b from t",
        "select 'hunter''2', 'hunter2''x' AS \"db_password\" from t",
        "select a, 'hunter2' as\n`api_token` from t",
        "select 'hunter2' as [x.secret_key]",
        "select 'hunter2'as password, N'x' as y",
        "select 'hunter2'::text as password, ('x') as z",
        "select cast('hunter2' as string) as password",
        "select ('hunter2') AS \"my db-password\"",
        "select E'hunter2' as password",
    ],
)
def test_a_literal_that_is_named_like_a_secret_is_one(sql: str) -> None:
    """Redact it also in SQL, which stays as it is around it."""
    assert redact_sql(sql).count("hunter2") == sql.count("hunter2") - 1
    assert "'[redacted]'" in redact_sql(sql)


def test_a_literal_with_another_name_stays() -> None:
    """Redact the key of a partition."""
    for sql in (
        "select 'x' as partition_key, 'it''s' as title, max('y') as keyword from t",
        "select 'x' as a from t join secrets on 'y' = b",
        'select "t"."token_count" AS "token_count" from "raw"."logins" as tokens',
        "select 'a' as y, ' as password' as z from t",
    ):
        assert redact_sql(sql) == sql
