"""How the server logs: event names and ids on standard error, never what people said."""

from typing import Any


def logging_config(level: str) -> dict[str, Any]:
    """A `logging.config` dictionary for the given lowest level."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "daphne": {"level": "WARNING"},
            "django.server": {"level": "WARNING"},
            # They write down what is sent, words of people included.
            **{name: {"level": "WARNING"} for name in ("openai", "httpx", "httpx2", "httpcore")},
        },
    }
