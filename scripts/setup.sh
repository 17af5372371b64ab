#!/usr/bin/env bash
# Sets up what a target needs, and says in one sentence what it cannot: setup.sh runtime|check|test
# The second run finds its stamp and takes a second.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:?runtime, check or test}

say() { printf 'lineward: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Debian packages by name when root, else a sentence that names them.
need() {
  local why=$1; shift
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    die "$why is missing: install it (on Debian: apt-get install $*) and run this again."
  fi
  say "installing $* ($why)"
  local policy=/usr/sbin/policy-rc.d made=
  # Some of the packages would start a service of their own on installation.
  if [ ! -e "$policy" ]; then printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; made=1; fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  [ -z "$made" ] || rm -f "$policy"
}

# Spark 4 needs Java 17 or newer; the tests run on 17. Debian 12 has only the first, Debian 13 only the second.
java_package() {
  [ "$(id -u)" != 0 ] || apt-get update -qq || say "the list of packages is old"
  if apt-cache show openjdk-17-jre-headless >/dev/null 2>&1; then echo openjdk-17-jre-headless
  else echo openjdk-21-jre-headless; fi
}

java_major() { java -version 2>&1 | sed -n '1s/.*version "\([0-9]*\).*/\1/p'; }

command -v java >/dev/null && [ "$(java_major)" -ge 17 ] ||
  need "Java 17 or newer, which Spark runs on," "$(java_package)"
if [ "$kind" = test ]; then
  command -v promtool >/dev/null || need "Prometheus, which the tests ask," prometheus
  command -v amtool >/dev/null && command -v prometheus-alertmanager >/dev/null ||
    need "Alertmanager, which the tests ask," prometheus-alertmanager
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
    need "Chromium, in which the tests look at pages," chromium fonts-dejavu-core
  command -v strace >/dev/null || need "strace, which breaks disks for the tests," strace
  [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null ||
    need "PgBouncer, behind which the tests put PostgreSQL," pgbouncer
fi

# A shim may be on PATH for a Python that is not there, so each is asked.
python=
for candidate in python3.11 python3 python3.12 python3.13; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || die "Python 3.11 or newer is missing: install it and run this again."

case $kind in runtime) locked=runtime ;; check | test) locked=dev ;; *) die "runtime, check or test, not $kind" ;; esac
# What is installed is what these files say: other files, another stamp.
stamp() { echo ".venv/lineward-$1-compiled-$(cat requirements/"$1".txt pyproject.toml | sha256sum | cut -c1-16)"; }

# Jars as Spark has those of a job, into a folder of ours. Here, and not by the first job: several
# at once would write the same files.
had() { scripts/fetch_jars.sh .venv/bin/python "$@"; }

# The listener of the jobs, in the version that the documents name.
listener() {
  local version
  version=$(sed -n 's/^LISTENER_VERSION = "\(.*\)"$/\1/p' service/ingest/spark/spark_conf.py)
  [ ! -e "build/ivy/whole-$version" ] || return 0
  say "fetching OpenLineage's listener $version for Spark"
  had build/ivy --packages "$(.venv/bin/python -c 'from service.ingest.spark.spark_conf import listener_package; print(listener_package())')"
  touch "build/ivy/whole-$version"
}

# The tests' Kafka broker: Kafka's own jars.
broker() {
  local version=4.1.1 folder=build/kafka
  [ "$kind" = test ] && [ ! -e "$folder/whole-$version" ] || return 0
  say "fetching Kafka $version for the tests"
  local packages=org.apache.kafka:kafka_2.13:$version,org.apache.kafka:kafka-tools:$version
  had "$folder" --packages "$packages,org.slf4j:slf4j-nop:2.0.17"
  touch "$folder/whole-$version"
}

# Spark's Kafka source, for the tests: the newest that the registry has whole. Its 4.2 lacks a part
# that only asks for tokens, which is taken from 4.0; for Spark 4.3 there is none at all.
kafka_source() {
  local folder=build/spark-kafka group=org.apache.spark
  [ "$kind" = test ] && [ ! -e "$folder/whole" ] || return 0
  say "fetching Spark's Kafka source for the tests"
  local tokens=$group:spark-token-provider-kafka-0-10_2.13
  had "$folder" --packages "$group:spark-sql-kafka-0-10_2.13:4.2.0" --exclude-packages "$tokens"
  local others=org.apache.kafka:kafka-clients,org.apache.hadoop:hadoop-client-runtime,org.slf4j:slf4j-api
  had "$folder" --packages "$tokens:4.0.0" --exclude-packages "$others"
  touch "$folder/whole"
}

# Spark's classes, which each JVM of the tests maps: without them a start takes twice the CPU.
classes() {
  local key archive
  [ "$kind" = test ] || return 0
  key=$({ java -version 2>&1; cat requirements/dev.txt; } | sha256sum | cut -c1-16)
  archive=build/classes/$key.jsa
  [ ! -e "$archive" ] || return 0
  say "archiving Spark's classes for the tests"
  rm -rf build/classes; mkdir -p build/classes
  JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit=$PWD/$archive.new" \
    .venv/bin/python -m tests.suite.classes >build/classes/log 2>&1 && mv "$archive.new" "$archive" ||
    say "no archive, so the tests take longer: build/classes/log says why"
}

find_uv() {
  uv=$(command -v uv || true)
  [ -z "$uv" ] || return 0
  uv=build/uv/bin/uv
  if [ ! -x "$uv" ]; then
    "$python" -m venv build/uv 2>/dev/null || { need "Python's venv" python3-venv; "$python" -m venv build/uv; }
    build/uv/bin/pip install -q uv
  fi
}

# Helm's own binary, and the strict schemas of the oldest and newest Kubernetes that the chart is for.
chart() {
  local folder=build/chart key version
  [ "$kind" = test ] || return 0
  key=$(sha256sum requirements/chart.txt | cut -c1-16)
  [ ! -e "$folder/whole-$key" ] || return 0
  say "fetching Helm and Kubernetes' schemas for the tests"
  find_uv
  rm -rf "$folder"; mkdir -p "$folder/schemas"
  "$uv" pip install -q --no-deps --require-hashes --target "$folder/packages" -r requirements/chart.txt
  tar -xzOf "$folder"/packages/aws_cdk/*/_jsii/*.jsii.tgz package/lib/layer.zip >"$folder/layer.zip"
  .venv/bin/python -m zipfile -e "$folder/layer.zip" "$folder/layer"
  if [ "$(uname -m)" = x86_64 ]; then
    mv "$folder/layer/helm/helm" "$folder/helm"; chmod +x "$folder/helm"
  else  # the package's is built for x86_64 only
    command -v helm >/dev/null || die "Helm 4, which the tests ask, is missing: install it and run this again."
    ln -s "$(command -v helm)" "$folder/helm"
  fi
  for version in 1.30 1.37; do
    mv "$folder/packages/kubernetes_validate/kubernetes-json-schema/v$version.0-local-strict" \
      "$folder/schemas/$version"
  done
  rm -rf "$folder/packages" "$folder/layer" "$folder/layer.zip"
  touch "$folder/whole-$key"
}

# All at once: some wait for the network, others compute. Checks read only what is installed.
fetched() {
  local one begun=()
  [ "$kind" != check ] || return 0
  for one in listener broker kafka_source classes chart; do "$one" & begun+=($!); done
  for one in "${begun[@]}"; do wait "$one"; done
}

# The test set holds the runtime set.
if [ -e "$(stamp $locked)" ] || [ -e "$(stamp dev)" ]; then fetched; exit 0; fi

find_uv
say "installing Lineward into .venv (Spark is the large part: a minute or two the first time)"
[ -x .venv/bin/python ] || "$uv" venv -q --no-python-downloads --python "$(command -v "$python")" .venv
# Compiled now: where Python may not write, each process would compile all that it imports. Spark's
# wheel is built here, unpacked at once and thrown away: compressing its jars takes most of the time.
"$uv" pip install -q --compile-bytecode --python .venv --require-hashes -r requirements/"$locked".txt \
  "--config-setting=--build-option=--compression=stored"
"$uv" pip install -q --python .venv --no-deps -e .
.venv/bin/python -m compileall -q alerts collector dashboards lab lineage runbooks service slis
touch "$(stamp $locked)"
fetched
