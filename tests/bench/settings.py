"""The product's settings, with the probe agent beside the booking agent."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as PRODUCT_APPS

INSTALLED_APPS = [*PRODUCT_APPS, "tests.bench"]
