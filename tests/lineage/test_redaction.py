"""No secret of a connection or a message is left, whoever the user and whatever the password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names import fold
from lineage.redaction import clear, redact

# As they may stand in a URL without being encoded; none that is a word of the URL itself.
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
@given(user=_USERS, password=_PASSWORDS, host=_HOSTS)
def test_no_password_is_in_any_name(connection, user, password, host):
    """In front of a host, in parentheses, behind a colon, commas, `?` or `;`; twice is once."""
    sent = connection.format(u=user, p=password, h=host)

    folded = fold(sent, "s.t")
    as_name = fold("etl", sent)

    for found in (folded, as_name):
        assert password not in found.namespace + found.name
    assert fold(folded.namespace, folded.name).rules == ()
    # A driver that takes its servers from elsewhere names none.
    assert host in folded.namespace or sent.startswith("jdbc:db2:DB")


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
        "slack said no to xoxb-{p}",
        "key AKIA0123456789AB{p}",
        "git clone https://{p}@github.com/o/r failed",
        "git clone https://oauth2:{p}@gitlab.com/o/r failed",
        "ghp_0123456789{p}",
        "jwt eyJhbGciOi.eyJzdWIi.{p}",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{p}\n",
    ],
)
@given(password=st.text("abcXYZ019_-", min_size=6, max_size=24).map(lambda text: f"Q{text}Z"))
def test_no_secret_is_in_any_message(message, password):
    told = redact(message.format(p=password))

    assert password not in told
    assert "[redacted]" in told
    assert redact(told) == told


@pytest.mark.parametrize(
    "message",
    [
        "mismatched input 'FROM' expecting {'SELECT', 'WITH'}(line 1, pos 7)",
        "Path does not exist: abfss://c@a.dfs.core.windows.net/x",
        "Column 'pass_rate' does not exist. Did you mean one of the following? [rate]",
        "No space left on device: /var/lib/x",
        "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.Task.run(Task.scala:147)",
        "mail to data@shop.example bounced",
        "3 tests passed: 3, assigned: x, design=a, compass: north, tokenizer: bert, message: hi",
    ],
)
def test_other_messages_stay_as_they_are(message):
    assert redact(message) == message


@given(st.text(max_size=200))
def test_any_text_is_cleared_and_redacted_without_an_error(text):
    assert clear(clear(text)) == clear(text)
    assert redact(redact(text)) == redact(text)
