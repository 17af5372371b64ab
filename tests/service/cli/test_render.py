import json
import shlex
import subprocess
from pathlib import Path

import pytest

from lineage.errors import InvalidRequestError
from service.ingest.spark.spark_conf import FILE_SETTING, Destinations, lossless_settings
from tests.service.commandline import lineward

PLACE = Destinations(
    url="http://c:8700",
    folder=Path("/var/spool/openlineage"),
    name="events",
    namespace="shop",
    event_logs="s3a://logs/spark",
)


def test_every_event_goes_into_a_file_and_to_the_collector():
    """Send to both, independent of each other."""
    fields = {one.name: one.value for one in lossless_settings(PLACE)}

    transport = {
        name.removeprefix("spark.openlineage.transport."): value
        for name, value in fields.items()
        if name.startswith("spark.openlineage.transport.")
    }
    assert transport == {
        "type": "composite",
        "continueOnFailure": "true",
        "withThreadPool": "true",
        "transports.file.type": "file",
        "transports.file.location": "/var/spool/openlineage/events.jsonl",
        "transports.http.type": "http",
        "transports.http.url": "http://c:8700",
        "transports.http.timeoutInMillis": "1000",
    }
    assert fields["spark.eventLog.dir"] == "s3a://logs/spark"
    assert int(fields["spark.sql.maxMetadataStringLength"]) >= 1_000_000


def test_a_comment_warns_of_packages_on_the_command_line():
    """Warn who has packages of their own: the job would run without lineage."""
    first = next(one for one in lossless_settings(PLACE) if one.name == "spark.jars.packages")

    assert "`--packages` on the command line replaces this line" in first.why


@pytest.mark.parametrize(
    ("options", "scala"),
    [
        ((), "2.13"),
        (("--spark", "4"), "2.13"),
        (("--spark", "3.5"), "2.12"),
        (("--spark", "3.5", "--scala", "2.13"), "2.13"),
    ],
)
def test_the_listener_is_built_for_the_scala_of_this_spark(options, scala):
    """Open the package of Java 17 that the listener needs, beside the job's own options."""
    rendered = lineward("render", "spark-conf", "--arguments", *options)
    words = shlex.split(rendered.stdout.replace("\\\n", ""))
    answer = dict(word.split("=", 1) for word in words[1::2])

    package = f"io.openlineage:openlineage-spark_{scala}:1.53.0"
    assert answer["spark.jars.packages"] == package
    assert answer["spark.driver.defaultJavaOptions"].split() == [
        "-XX:+IgnoreUnrecognizedVMOptions",
        "--add-opens=java.base/java.security=ALL-UNNAMED",
    ]
    assert "spark.driver.extraJavaOptions" not in answer
    assert "`--packages` on the command line replaces this line" in rendered.stderr
    assert f"name {package} there too" in rendered.stderr


@pytest.mark.parametrize(
    ("command", "option"),
    [("spark-conf", "--collector-url"), ("rules", "--lineward-url")],
)
def test_the_earlier_name_of_a_url_works_and_is_hidden(command: str, option: str):
    """Accept `--url`, which meant the collector here and the API there; the help has one name."""
    url = "http://elsewhere:8700"
    given = ("render", command, *(("--name", "orders") if command == "spark-conf" else ()))
    shown = lineward("render", command, "--help").stdout

    assert lineward(*given, "--url", url).stdout == lineward(*given, option, url).stdout
    assert url in lineward(*given, "--url", url).stdout
    assert (option in shown, " --url " in shown) == (True, False)


def test_spark_4_with_scala_2_12_is_rejected():
    rendered = lineward("render", "spark-conf", "--spark", "4", "--scala", "2.12")

    assert rendered.returncode == 2
    assert "--scala: Spark 4 supports 2.13 only" in rendered.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])  # noqa: S104 - what is rejected
def test_jobs_get_no_address_that_means_all_interfaces(host):
    """Reject the settings: each job would send its events to its own machine."""
    rendered = lineward("render", "spark-conf", LINEWARD_HOST=host)

    assert (rendered.returncode, rendered.stdout) == (2, "")
    assert f"LINEWARD_HOST={host} is not an address" in rendered.stderr
    assert "set --collector-url or LINEWARD_COLLECTOR_URL to the address" in rendered.stderr


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (("--collector-url", "http://c:8700"), {}),
        ((), {"LINEWARD_COLLECTOR_URL": "http://c:8700"}),
    ],
)
def test_jobs_get_the_address_of_a_collector_on_all_interfaces(options, variables):
    host = "0.0.0.0"  # noqa: S104 - replaced by the option, or by the variable
    rendered = lineward("render", "spark-conf", "--json", *options, LINEWARD_HOST=host, **variables)

    url = "spark.openlineage.transport.transports.http.url"
    assert json.loads(rendered.stdout)[url] == "http://c:8700"


def test_each_form_has_the_same_spark_settings():
    """Compare spark-defaults.conf, arguments of spark-submit and JSON."""
    options = ("render", "spark-conf", "--folder", "/var/it's here", "--name", "nightly")
    as_json = json.loads(lineward(*options, "--json").stdout)
    lines = lineward(*options).stdout.splitlines()
    words = shlex.split(lineward(*options, "--arguments").stdout.replace("\\\n", ""))

    assert dict(line.split(None, 1) for line in lines if not line.startswith("#")) == as_json
    assert dict(word.split("=", 1) for word in words[1::2]) == as_json
    assert set(words[0::2]) == {"--conf"}


@pytest.mark.parametrize("form", [(), ("--arguments",), ("--json",)])
def test_a_hint_names_the_command_that_sends_what_http_loses(form):
    """Print the hint on standard error: the settings alone write the events only to a file."""
    place = ("--folder", "/var/events", "--collector-url", "http://c:8700")
    rendered = lineward("render", "spark-conf", *place, *form)

    assert "run `lineward ship /var/events --url http://c:8700` on the driver's machine" in (
        rendered.stderr
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--config-secret", "s"), "--config-secret: only with --kubernetes"),
        (("--events-claim", "c"), "--events-claim: only with --kubernetes"),
        (("--jar-url", "http://a/x.jar"), "--jar-url: only with --kubernetes"),
        (("--operator", "kubeflow"), "--operator: only with --kubernetes"),
        (("--kubernetes", "--name", "x"), "--name: with --kubernetes only with --events-claim"),
        (("--kubernetes", "--folder", "/x"), "--folder: with --kubernetes only with --events-clai"),
    ],
)
def test_an_option_without_effect_is_rejected(options, message):
    """Reject what would be ignored, for example a Secret that no driver would mount."""
    rendered = lineward("render", "spark-conf", *options)

    assert (rendered.returncode, rendered.stdout) == (2, "")
    assert rendered.stderr.startswith(f"lineward: {message}")


def test_the_lines_end_with_the_setting_that_a_deployment_completes():
    """Print the tag of the code version as a comment: as a setting, VERSION would be stored."""
    reason, setting = lineward("render", "spark-conf").stdout.splitlines()[-2:]

    assert reason.startswith("# version of the job's code, for example a commit")
    assert setting.split() == ["#", "spark.openlineage.job.tags", "code_version:VERSION"]


def test_each_application_has_a_file_of_its_own():
    """Render a new file name each time, and warn where many applications may read the lines.

    Two applications that run at once would mix their events in one file.
    """
    command = ("render", "spark-conf", "--arguments")
    first, second = (lineward(*command).stdout for _ in range(2))
    lines = lineward("render", "spark-conf")

    differing = set(first.splitlines()) ^ set(second.splitlines())
    assert len(differing) == 2
    assert all(f"{FILE_SETTING}=/var/spool/openlineage/events-" in line for line in differing)
    assert "one application at a time" in lines.stderr
    assert (
        "# one application at a time may write to this file: two would mix their events;"
        f" give others --conf {FILE_SETTING}=FILE\n"
    ) in lines.stdout


def test_a_shell_parses_the_arguments(tmp_path: Path):
    """Pass the arguments as documented, with a folder that needs quotes."""
    rendered = lineward("render", "spark-conf", "--arguments", "--folder", "/var/it's here").stdout
    (tmp_path / "words").write_text(rendered)
    shell = ["bash", "-c", f"""eval "printf '%s\\n' $(cat {tmp_path}/words) job.py" """]
    words = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.splitlines()

    assert words == [*shlex.split(rendered.replace("\\\n", "")), "job.py"]


def test_the_collector_is_that_of_the_settings_by_default():
    """Take its port from the setting of all commands."""
    text = json.loads(
        lineward("render", "spark-conf", "--json", LINEWARD_COLLECTOR_PORT="9").stdout
    )

    assert text["spark.openlineage.transport.transports.http.url"] == "http://127.0.0.1:9"


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://c:8700/api/v1/lineage"},
        {"url": "c:8700"},
        {"url": "http://c:port"},
        {"url": "http://user@c:8700"},
        {"url": "http://c:8700?a=b"},
        {"name": "../events"},
        {"name": ""},
        {"namespace": "shop\nspark.master local"},
        {"namespace": "a\\b"},
    ],
)
def test_values_that_spark_would_misread_are_rejected(wrong: dict[str, str]):
    """Reject a URL with a path, a name that leaves the folder, and a value with a line break."""
    fields = {name: getattr(PLACE, name) for name in PLACE.__struct_fields__} | wrong

    with pytest.raises(InvalidRequestError):
        lossless_settings(Destinations(**fields))
