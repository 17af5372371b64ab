#!/usr/bin/env bash
# Fetches jars as Spark fetches those of a job: fetch_jars.sh PYTHON FOLDER OPTIONS-OF-SPARK-SUBMIT
# PYTHON has PySpark installed; the jars are in FOLDER/jars afterwards, the log in FOLDER.log.
set -euo pipefail
python=$1 folder=$2
shift 2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
nothing=$(mktemp --suffix=.py)
trap 'rm -f "$nothing"' EXIT
home=$("$python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
# Java ends before code of its second compiler pays, which is half of the CPU.
export JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 ${JDK_JAVA_OPTIONS:-}"
for try in 1 2 3; do
  if SPARK_HOME=$home SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$python \
    "$home/bin/spark-submit" --master 'local[1]' --conf spark.ui.enabled=false \
    --conf "spark.jars.ivy=$folder" "$@" "$nothing" >"$folder.log" 2>&1; then
    exit 0
  fi
  sleep $((try * 5))
done
printf 'lineward: these could not be fetched (%s): %s says why\n' "$*" "$folder.log" >&2
exit 1
