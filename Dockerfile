# The wire as one image: site, REST, MCP, ingest. Nothing of it is written to while it runs, but the volume at /data.
FROM python:3.11-slim AS wheel
COPY . /source
RUN pip wheel --no-cache-dir --disable-pip-version-check --quiet --no-deps --wheel-dir /dist /source

FROM python:3.11-slim AS packages
COPY requirements.lock /build/requirements.lock
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --quiet --require-hashes -r /build/requirements.lock
COPY --from=wheel /dist /dist
# Byte-code now, since a read-only root keeps none later.
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --quiet --no-deps --no-index /dist/*.whl \
    && /venv/bin/python -m compileall -q /venv/lib

FROM python:3.11-slim
RUN useradd --system --user-group --uid 10001 --no-create-home --shell /usr/sbin/nologin wire \
    && install -d -o wire -g wire -m 0700 /data /backups
COPY --from=packages /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 WIRE_DATA_DIR=/data HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576
USER wire
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["chatbotnews-wire", "serve"]
