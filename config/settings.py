"""Django settings. Everything that differs between two machines comes from the environment; docs/settings.md lists it."""

import importlib.util
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config import env, keyring, logs
from config.database import postgres, sqlite

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.boolean("DEBUG", False)
PORT = env.integer("PORT", 8000, 1, 65535)
HOST = env.text("HOST", "127.0.0.1")
IS_CHECKOUT = (BASE_DIR / "pyproject.toml").exists()  # an installed package has none, and no data beside its code
USER_DATA_DIR = env.path("XDG_DATA_HOME", Path.home() / ".local" / "share")  # XDG Base Directory Specification, 0.8
DEFAULT_DATA_DIR = (BASE_DIR / "var" if IS_CHECKOUT else USER_DATA_DIR / "chatbotnews-wire") / "wire"
WIRE_DATA_DIR = env.path("WIRE_DATA_DIR", DEFAULT_DATA_DIR)
WIRE_SITE_URL = env.web_address("WIRE_SITE_URL", f"http://localhost:{PORT}")
WIRE_MCP_URL = env.web_address("WIRE_MCP_URL", f"{WIRE_SITE_URL}/mcp")
WIRE_HSTS = env.choice("WIRE_HSTS", "host", "subdomains", "preload")
WIRE_WORKERS = env.integer("WIRE_WORKERS", 1, 1, 64)
WIRE_INGEST = env.duration("WIRE_INGEST", "30m")
WIRE_VECTORS = env.boolean("WIRE_VECTORS", True)
# Names of checkbot-rag's are taken too, so that an installation of it can move here with its environment.
FACTCHECKS_STATUSES = tuple(env.word_list("FACTCHECKS_STATUSES")) or ("published",)
FACTCHECKS_EMBEDDING = env.choice("FACTCHECKS_EMBEDDING", "package", "off", "hashed")
FACTCHECKS_EMBEDDING_URL = env.web_address(env.choose_set_name("FACTCHECKS_EMBEDDING_URL", "CHECKBOT_RAG_EMBEDDING_BASE_URL"))
FACTCHECKS_EMBEDDING_MODEL = env.text(
    env.choose_set_name("FACTCHECKS_EMBEDDING_MODEL", "CHECKBOT_RAG_EMBEDDING_MODEL"), "qwen3-embedding-8b"
)
FACTCHECKS_EMBEDDING_KEY = env.text(env.choose_set_name("FACTCHECKS_EMBEDDING_KEY", "CHECKBOT_RAG_EMBEDDING_API_KEY"))
FACTCHECKS_EMBEDDING_DIMENSIONS = env.integer(
    env.choose_set_name("FACTCHECKS_EMBEDDING_DIMENSIONS", "CHECKBOT_RAG_EMBEDDING_DIMENSIONS"), 1536, 2, 8192
)
FACTCHECKS_EMBEDDING_SENDS_DIMENSIONS = env.boolean("FACTCHECKS_EMBEDDING_SENDS_DIMENSIONS", True)
FACTCHECKS_VECTOR_MS = env.integer("FACTCHECKS_VECTOR_MS", 300, 1, 10_000)
FACTCHECKS_KEYS = env.choice("FACTCHECKS_KEYS", "auto", "required", "mcp", "off")
FACTCHECKS_MCP_KEY = env.text(env.choose_set_name("FACTCHECKS_MCP_KEY", "CHECKBOT_RAG_MCP_API_KEY"))
FACTCHECKS_API_KEY = env.text(env.choose_set_name("FACTCHECKS_API_KEY", "CHECKBOT_RAG_API_KEY"))
WIRE_TIMELINE_CORPUS = env.text("WIRE_TIMELINE_CORPUS", "wire")
WIRE_X402_FACILITATOR = env.web_address("WIRE_X402_FACILITATOR")
WIRE_SECURITY_CONTACT = env.text("WIRE_SECURITY_CONTACT", "")
WIRE_WEBSUB_HUB = env.endpoint("WIRE_WEBSUB_HUB")
WIRE_FETCH_ALLOW = env.loopback_networks("WIRE_FETCH_ALLOW")
WIRE_CACHE_BYTES = env.integer("WIRE_CACHE_MB", 16, 0, 4096) * 1_000_000
WIRE_METRICS_TOKEN = env.text("WIRE_METRICS_TOKEN")
WIRE_RATE_LIMIT = env.rate("WIRE_RATE_LIMIT", "60/m")
WIRE_GATEWAY_POLICY = env.path("WIRE_GATEWAY_POLICY", Path()) if env.text("WIRE_GATEWAY_POLICY") else None
WIRE_GATEWAY_CACHE_BYTES = env.integer("WIRE_GATEWAY_CACHE_MB", 1_000, 1, 1_000_000) * 1_000_000
WIRE_GATEWAY_LOG_ROWS = env.integer("WIRE_GATEWAY_LOG_ROWS", 200_000, 1_000, 100_000_000)
REDIS_URL = env.redis("REDIS_URL")
WIRE_TRUSTED_PROXIES = env.networks("WIRE_TRUSTED_PROXIES")
WIRE_ALLOWED_ORIGINS = frozenset(
    {"https://claude.ai", "https://chatgpt.com", "://".join(urlsplit(WIRE_SITE_URL)[:2]), *env.word_list("WIRE_ALLOWED_ORIGINS")}
)

SECRET_KEY = env.text("SECRET_KEY") or keyring.load_or_create_secret(WIRE_DATA_DIR / "keys" / "secret_key")
SITE_IS_HTTPS = WIRE_SITE_URL.startswith("https://")
ALLOWED_HOSTS = sorted(
    {urlsplit(url).hostname or "" for url in (WIRE_SITE_URL, WIRE_MCP_URL)} | {"localhost", "127.0.0.1", "[::1]"}
)

INSTALLED_APPS = [
    "sources",
    "wire",
    "wire.corpora.articles",
    "wire.corpora.factchecks",
    "wire.corpora.timeline",
    "unfold",  # before the admin, whose templates it replaces
    "config.admin_config.DeskConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

WITH_MCP = importlib.util.find_spec("mcpserver") is not None  # REST and the site work without it
if WITH_MCP:
    INSTALLED_APPS += ["mcpserver", "mcpserver.gateway"]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.http.middleware.public_headers",
    "config.http.middleware.DatabaseAway",
    "config.api.OnlyKnownParameters",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "config.urls"
PUBLIC_URLCONF = "config.public_urls"  # of everything but the desk, which takes long to load
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "wire.site.metadata.add_site_context",
            ],
        },
    },
]

# SQLite is the embedded default. WAL lets readers go on while one writer works; IMMEDIATE takes the write lock at BEGIN,
# where waiting for it is possible, instead of failing half-way with "database is locked". Who waits is not next in turn: of four
# writers that did nothing else for ten minutes, two in 1,500 rounds were passed over for 20 s.
SQLITE: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": WIRE_DATA_DIR / "wire.sqlite3",
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 60,
        "factory": sqlite.PrivateConnection,
        # synchronous=FULL: what was committed survives a power cut, so that no day that was served is lost and signed again as
        # another. It is set once for each connection, since inside of a transaction, where the desk is, it can no longer be.
        # No memory map: it answers no sooner, and what it maps counts once more for each connection of each thread.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-8192",
    },
}
DATABASES: dict[str, dict[str, Any]] = {"default": env.database("DATABASE_URL") or SQLITE}
if replica := env.database("DATABASE_REPLICA_URL"):
    DATABASES["replica"] = replica
if replica and any(database["ENGINE"] != postgres.ENGINE for database in DATABASES.values()):
    raise ImproperlyConfigured("DATABASE_REPLICA_URL needs Postgres, there and in DATABASE_URL: an SQLite file has no replica.")
for alias, database in DATABASES.items():
    if database["ENGINE"] == postgres.ENGINE:
        DATABASES[alias] = postgres.build_pooled_settings(database)
DATABASE_ROUTERS = ["config.database.routing.Router"]  # what the public doors read comes from the replica, if there is one

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE = "UTC"
USE_I18N = False
FORMAT_MODULE_PATH = "config.formats"

DATA_UPLOAD_MAX_MEMORY_SIZE = 10_485_760  # an import that is confirmed; config.http.request_guard holds all but the desk to 64 KiB

UNFOLD = {
    "SITE_TITLE": "ChatbotNews.ai desk",
    "SITE_HEADER": "ChatbotNews.ai desk",
    "SITE_SYMBOL": "newsmode",
    "SHOW_VIEW_ON_SITE": True,
    "ENVIRONMENT": "wire.admin.dashboard.get_environment_label",
    "DASHBOARD_CALLBACK": "wire.admin.dashboard.add_dashboard_context",
    "COLORS": lambda _request: {},  # static/wire/desk.css has them: Unfold would write them into each page, as a style sheet
    "SIDEBAR": {"navigation": "wire.admin.menu.build_sidebar"},
}

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True

LOGIN_REDIRECT_URL = "/admin/"
CSRF_FAILURE_VIEW = "wire.site.errors.csrf_failure"
# Cookies exist for the admin only. Over plain http (a machine of one's own) a Secure cookie would lock the editor out.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SITE_IS_HTTPS
CSRF_TRUSTED_ORIGINS = [f"{urlsplit(WIRE_SITE_URL).scheme}://{urlsplit(WIRE_SITE_URL).netloc}"]
SECURE_HSTS_SECONDS = 31_536_000 if SITE_IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = WIRE_HSTS in {"subdomains", "preload"}
SECURE_HSTS_PRELOAD = WIRE_HSTS == "preload"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SITE_IS_HTTPS else None
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # other subdomains may be somebody else's, or have no TLS: WIRE_HSTS includes them
    "security.W008",  # TLS and its redirect belong to the proxy in front; health checks come over http
    "security.W021",  # browsers' preload list is left again in months, if at all: WIRE_HSTS asks for it
]

LOGGING = logs.build_logging_config(env.choice("WIRE_LOG", "text", "json"))
