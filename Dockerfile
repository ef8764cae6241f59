# The wire as one image: site, REST, MCP, ingest. Nothing of it is written to while it runs, but the volume at /data.
FROM python:3.11-slim AS build
COPY requirements.lock /build/
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /build/requirements.lock

FROM python:3.11-slim
RUN useradd --system --user-group --uid 10001 --no-create-home --shell /usr/sbin/nologin wire \
    && install -d -o wire -g wire -m 0700 /data /backups
COPY --from=build /venv /venv
COPY . /app
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 WIRE_DATA_DIR=/data HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576
# Byte-code now, since a read-only root keeps none later.
RUN python -m compileall -q /app
USER wire
VOLUME ["/data"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "manage.py", "serve"]
