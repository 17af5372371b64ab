# The image of every role, and of Spark's driver and executors: docs/kubernetes/image.md.
# The digest pins the files, the tag says which release they are.
ARG PYTHON_IMAGE=python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3

FROM ${PYTHON_IMAGE} AS base
# Debian keeps the newest version of a package only, so that a pinned one cannot be installed a
# month later. The bill of materials in the image has the versions that were taken.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless tini \
 && rm -rf /var/lib/apt/lists/*

FROM base AS build
ENV UV_NO_CACHE=1
WORKDIR /src
COPY requirements requirements
COPY helm/image helm/image
RUN helm/image/install.sh tools packages
COPY . .
RUN helm/image/install.sh product listener bom

FROM base
LABEL org.opencontainers.image.title="Lineward" \
      org.opencontainers.image.description="SRE for data lineage" \
      org.opencontainers.image.licenses="Apache-2.0"
# Java takes its home from passwd: /tmp is a folder that every container can write to.
RUN useradd --uid 10001 --user-group --home-dir /tmp --no-create-home --shell /usr/sbin/nologin lineward \
 && install -d -o 10001 -g 0 -m 0770 /var/lib/lineward \
 && install -d /opt/spark/conf
COPY --from=build /opt/lineward /opt/lineward
COPY helm/image/pipeline.py /opt/lineward/spark/pipeline.py
# PYTHONSAFEPATH: no module is imported from the working folder, which others may write to.
ENV PATH=/opt/lineward/bin:$PATH \
    HOME=/tmp \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    LINEWARD_DATA_DIR=/var/lib/lineward \
    LINEWARD_LISTENER_DIR=/opt/lineward/listener \
    LINEWARD_HOST=0.0.0.0
# Spark's executors put files of a job into their working folder.
WORKDIR /tmp
USER 10001:10001
EXPOSE 8700 8701 8702
ENTRYPOINT ["/usr/bin/tini", "-s", "--", "/opt/lineward/bin/python", "-m", "service.runtime.container"]
CMD ["--help"]
