#!/usr/bin/env bash
# The steps by which the Dockerfile fills the image; a nightly test runs the same steps in an empty
# folder. install.sh STEP..., where a step is tools, packages, product, listener or bom.
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=${LINEWARD_PREFIX:-/opt/lineward} # the only folder that the image keeps
tools=${LINEWARD_TOOLS:-/opt/lineward-tools}

# Versions and hashes of all packages, those that build others included, come from requirements/.
install_into_prefix() {
  "$tools/bin/uv" pip install -q --compile-bytecode --python "$prefix/bin/python" \
    --build-constraints requirements/image.txt "$@"
  rm -f "$prefix/.lock" # uv's, which everybody may write
}

fetch_listener() {
  local folder jars=() one scala
  folder=$(mktemp -d)
  for scala in 2.12 2.13; do
    jars+=("$("$prefix/bin/python" -c "from service.ingest.spark.spark_conf import listener_package; print(listener_package('$scala'))")")
  done
  scripts/fetch_jars.sh "$prefix/bin/python" "$folder/ivy" --packages "$(IFS=,; echo "${jars[*]}")"
  mkdir -p "$prefix/listener"
  for one in "$folder"/ivy/jars/io.openlineage_openlineage-spark_*.jar; do
    mv "$one" "$prefix/listener/${one##*/io.openlineage_}"
  done
  rm -rf "$folder" "$folder".log
  (cd "$prefix/listener" && sha256sum --quiet --strict -c) <helm/image/listener.sha256
}

make_tools() {
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q --no-cache-dir --only-binary :all: --require-hashes \
    -r requirements/image.txt
}

install_packages() {
  "$tools/bin/uv" venv -q --no-python-downloads --python "$(command -v python3)" "$prefix"
  # pyspark's wheel is unpacked at once: compressing it would take most of the time.
  install_into_prefix --require-hashes -r requirements/runtime.txt \
    "--config-setting=--build-option=--compression=stored"
}

install_product() {
  install_into_prefix --no-deps .
  # Fails where the wheel lacks a module.
  (cd / && "$prefix/bin/lineward" version >/dev/null)
}

write_bom() {
  "$tools/bin/cyclonedx-py" environment --output-format JSON --output-reproducible \
    --output-file "$prefix/sbom.python.json" "$prefix/bin/python"
  "$tools/bin/python" helm/image/sbom.py "$prefix" "$prefix/sbom.python.json" \
    >"$prefix/sbom.cdx.json"
  rm "$prefix/sbom.python.json"
}

for step in "$@"; do
  case $step in
    tools) make_tools ;;
    packages) install_packages ;;
    product) install_product ;;
    listener) fetch_listener ;;
    bom) write_bom ;;
    *)
      printf 'install.sh: no step %s\n' "$step" >&2
      exit 2
      ;;
  esac
done
