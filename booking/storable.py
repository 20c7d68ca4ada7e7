"""Which texts the database can hold. Pure."""


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes it: no NUL, no half of a surrogate pair."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def one_line(text: str) -> str:
    """On one line, each NUL a space, each half of a surrogate pair a question mark."""
    return " ".join(text.encode(errors="replace").decode().replace("\0", " ").split())
