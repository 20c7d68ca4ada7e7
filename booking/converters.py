"""What may stand in an address."""

from django.urls.converters import StringConverter


class CodeConverter(StringConverter):
    """The code of a room."""

    regex = r"[^/\x00]{1,20}"
