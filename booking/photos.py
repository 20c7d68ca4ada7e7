"""Photos of rooms as they are kept: small, of one format, and nothing in them but the picture."""

from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import IO

from PIL import Image, ImageOps

LARGEST = (1280, 960)
"""Pixels; a larger photo is shrunk to fit."""
MAX_BYTES = 12 * 1024 * 1024
MAX_PIXELS = 60_000_000
FORMATS = ("JPEG", "PNG", "WEBP")
MEDIA_TYPE = "image/webp"


class Unreadable(ValueError):
    """The file is no photo that can be kept."""


@dataclass(frozen=True, kw_only=True)
class Photo:
    """A WebP picture; the digest is that of its bytes (SHA-256, hex)."""

    content: bytes
    width: int
    height: int

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()


def shrunk(file: IO[bytes]) -> Photo:
    """The photo turned upright, shrunk, and written anew without what else the file holds.

    Raises Unreadable for anything but a JPEG, PNG or WebP of at most `MAX_PIXELS`.
    """
    try:
        with Image.open(file, formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise Unreadable
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise Unreadable from error
    upright.thumbnail(LARGEST)
    written = BytesIO()
    upright.save(written, format="WEBP", quality=80, method=4)
    return Photo(content=written.getvalue(), width=upright.width, height=upright.height)
