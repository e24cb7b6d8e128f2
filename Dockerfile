# The project's image: Shakeout, what its sandboxes need, and a user who owns nothing.
#
#   ci/engine image          builds it on a base made from Debian's packages
#   docker build .           builds it on the usual base, once .build/wheels is there
#
# The wheels are fetched outside (see ci/engine) and locked by hash, and the clock shim, which
# needs a compiler, is built there; nothing of the build's own tools is left in the image.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
RUN command -v git && python3 -c 'import ensurepip' || { \
        apt-get update \
        && apt-get install -y --no-install-recommends git python3-venv; }
COPY .build/wheels /wheels
RUN python3 -m venv /opt/shakeout \
    && /opt/shakeout/bin/pip install -q --no-cache-dir --no-index --find-links /wheels \
        --require-hashes -r /wheels/base.txt \
    && /opt/shakeout/bin/pip install -q --no-cache-dir --no-index --no-deps /wheels/shakeout-*.whl \
    && /opt/shakeout/bin/pip uninstall -q -y pip setuptools \
    && cd /opt/shakeout/lib/python3.*/site-packages/sandboxes \
    && ln -s "$PWD/nest.json" /opt/shakeout/nest.json \
    && if [ -e /wheels/wall.so ]; then install -D /wheels/wall.so wall/.build/wall.so; fi

FROM ${BASE}
LABEL org.opencontainers.image.title="shakeout" \
      org.opencontainers.image.description="Rehearse agent runtimes under declared faults" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN { command -v git && command -v bwrap && command -v curl && command -v python3 \
        && command -v ps; } || { \
        apt-get update \
        && apt-get install -y --no-install-recommends \
            bubblewrap ca-certificates curl git procps python3 \
        && rm -rf /var/lib/apt/lists/*; }
COPY --from=build /opt/shakeout /opt/shakeout
# The id is one that no machine gives to a person.
RUN groupadd --gid 61000 agent \
    && useradd --uid 61000 --gid agent --create-home --shell /bin/bash agent \
    && install -d -o agent -g agent /workspace
ENV PATH=/opt/shakeout/bin:/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
USER agent
WORKDIR /workspace
CMD ["shakeout", "--help"]
