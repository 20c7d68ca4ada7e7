"""Django's settings, composed from config.env. No secret and no machine's path is written here."""

from psycopg.conninfo import conninfo_to_dict

from config import embedded, env
from config.logging import logging_config

BASE_DIR = env.ROOT
DEBUG = env.read("DEBUG")
SECRET_KEY = env.read("SECRET_KEY") or ("demo-only-" * 6 if DEBUG else "")
ALLOWED_HOSTS = env.read("ALLOWED_HOSTS")
HOST = env.read("HOST")
PORT = env.read("PORT")
ALLOWED_ORIGINS = env.read("ALLOWED_ORIGINS") or [
    f"{scheme}://{host}:{PORT}" for host in ALLOWED_HOSTS for scheme in ("http", "https")
]
CSRF_TRUSTED_ORIGINS = [origin for origin in ALLOWED_ORIGINS if "*" not in origin]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
INSTALLED_APPS = [
    "agentruntime",
    "booking",
    "audit",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.storable_addresses",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

_dsn = conninfo_to_dict(
    env.read("DATABASE_URL") or embedded.database_url(env.read("ROOMWISE_DATA"))
)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _dsn.pop("dbname", "roomwise"),
        "USER": _dsn.pop("user", ""),
        "PASSWORD": _dsn.pop("password", ""),
        "HOST": _dsn.pop("host", ""),
        "PORT": str(_dsn.pop("port", "")),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**_dsn, "pool": {"min_size": 1, "max_size": 16, "timeout": 5}},
    }
}

REDIS_URL = env.read("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": 15, "socket_connect_timeout": 2}]
        },
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "assistant"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.read("TIME_ZONE")
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEBUG

REST_FRAMEWORK = {
    # The token first: who is not known is then asked for one, with 401.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "booking.api.person.PersonalToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "booking.api.paging.Pages",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": f"{env.read('ROOMWISE_API_PER_MINUTE')}/min"},
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "booking.api.problems.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Roomwise",
    "DESCRIPTION": "Rooms, what is free, and your bookings. docs/api.md tells how to begin.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SERVE_INCLUDE_SCHEMA": False,
    "ENFORCE_NON_BLANK_FIELDS": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "booking.api.schema.complete",
    ],
}

LOGGING = logging_config(env.read("LOG_LEVEL"))

EMAIL_TIMEOUT = 10
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.read("EMAIL_FROM")
EMAIL_FILE_PATH = env.read("ROOMWISE_DATA") / "mail"
if _mail_server := env.read("EMAIL_URL"):
    globals().update(_mail_server)
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"

ROOMWISE = {
    "runtime": {
        "lease_seconds": env.read("ROOMWISE_LEASE_SECONDS"),
        "beat_seconds": env.read("ROOMWISE_BEAT_SECONDS"),
        "watch_seconds": env.read("ROOMWISE_WATCH_SECONDS"),
        "debounce_seconds": env.read("ROOMWISE_DEBOUNCE_SECONDS"),
        "flush_after_seconds": env.read("ROOMWISE_FLUSH_AFTER"),
        "run_seconds": env.read("ROOMWISE_RUN_SECONDS"),
        "drain_seconds": env.read("ROOMWISE_DRAIN_SECONDS"),
        "idle_seconds": env.read("ROOMWISE_IDLE_SECONDS"),
        "hang_seconds": env.read("ROOMWISE_HANG_SECONDS"),
    },
    "frames_per_second": env.read("ROOMWISE_FRAMES_PER_SECOND"),
    "planner": env.read("ROOMWISE_PLANNER"),
    "model": {
        "name": env.read("ROOMWISE_MODEL"),
        "url": env.read("ROOMWISE_MODEL_URL"),
        "key": env.read("ROOMWISE_MODEL_KEY"),
        "seconds": env.read("ROOMWISE_MODEL_SECONDS"),
    },
}
if ROOMWISE["runtime"]["lease_seconds"] < 2 * ROOMWISE["runtime"]["beat_seconds"]:
    raise env.BadSetting("ROOMWISE_LEASE_SECONDS has to be at least twice ROOMWISE_BEAT_SECONDS")
