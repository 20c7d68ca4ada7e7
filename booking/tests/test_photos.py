"""Photos of rooms: what is kept of a file, who sees it, and how browsers keep it."""

from io import BytesIO

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image

from booking import photos
from booking.models import Grant, Room, RoomPhoto
from booking.tests import world
from booking.tests.world import NOW, user


def file_of(size=(1600, 800), *, form="JPEG", **more):
    written = BytesIO()
    Image.new("RGB", size, "teal").save(written, format=form, **more)
    written.seek(0)
    return written


def test_a_photo_is_shrunk_turned_upright_and_rid_of_where_it_was_taken():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010E] = "taken at home"
    kept = photos.shrunk(file_of(exif=exif))
    assert (kept.width, kept.height) == (480, 960)
    with Image.open(BytesIO(kept.content)) as opened:
        assert opened.format == "WEBP"
        assert not opened.getexif()
    assert b"taken at home" not in kept.content


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_the_usual_formats_are_read(form):
    assert photos.shrunk(file_of((40, 30), form=form)).width == 40


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"GIF89a" + bytes(40),
        file_of().getvalue()[:300],
        b"\x89PNG\r\n\x1a\n" + bytes(60),
    ],
)
def test_anything_else_is_no_photo(content):
    with pytest.raises(photos.Unreadable):
        photos.shrunk(BytesIO(content))


def test_a_small_file_of_too_many_pixels_is_no_photo():
    written = BytesIO()
    Image.new("1", (20_000, 20_000)).save(written, format="PNG")
    assert len(written.getvalue()) < photos.MAX_BYTES
    with pytest.raises(photos.Unreadable):
        photos.shrunk(written)


@pytest.fixture
def _world(db, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_AUTOREFRESH = True
    world.build()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def room(_world):
    return Room.objects.get(code="A302")


def change(client, room, **more):
    client.force_login(user("admin"))
    values = {
        "floor": room.floor_id,
        "code": room.code,
        "name_en": room.name_en,
        "name_zh": room.name_zh,
        "aliases": "",
        "seats": room.seats,
        "policy": room.policy_id,
        "is_active": "on",
    }
    address = reverse("admin:booking_room_change", args=[room.pk])
    return client.post(address, {**values, **more})


def upload(content=None, name="room.jpg"):
    return SimpleUploadedFile(name, content or file_of().getvalue(), "image/jpeg")


def test_an_administrator_sets_replaces_and_removes_it(client, room):
    assert change(client, room, photo_file=upload()).status_code == 302
    first = RoomPhoto.objects.get(room=room)
    page = client.get(reverse("admin:booking_room_change", args=[room.pk])).content.decode()
    assert reverse("room-photo", args=["A302"]) in page
    change(client, room, photo_file=upload(file_of((640, 480)).getvalue()))
    assert RoomPhoto.objects.get(room=room).digest != first.digest
    change(client, room, photo_remove="on")
    assert not RoomPhoto.objects.exists()


@pytest.mark.parametrize("content", [b"no photo", bytes(photos.MAX_BYTES + 1)])
def test_a_file_that_is_none_is_said_at_its_field(client, room, content):
    response = change(client, room, photo_file=upload(content))
    assert "photo_file" in response.context["adminform"].form.errors
    assert not RoomPhoto.objects.exists()


@pytest.fixture
def photo(client, room):
    change(client, room, photo_file=upload())
    client.force_login(user("lilei"))
    return RoomPhoto.objects.get(room=room)


def test_the_page_shows_it_and_a_browser_keeps_it(client, photo):
    page = client.get(reverse("room", args=["A302"])).content.decode()
    address = reverse("room-photo", args=["A302"])
    assert f'src="{address}?v={photo.digest[:12]}"' in page
    response = client.get(address)
    assert response["Content-Type"] == "image/webp"
    assert response.content == bytes(photo.content)
    again = client.get(address, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/v1/rooms/A302/").json()["photo"] == address
    assert client.get("/api/v1/rooms/A305/").json()["photo"] is None


def test_who_may_not_see_the_room_does_not_see_its_photo(client, photo, room):
    address = reverse("room-photo", args=["A302"])
    group = Group.objects.create(name="Board")
    Grant.objects.create(policy=room.policy, group=group, right=Grant.Right.SEE)
    assert client.get(address).status_code == 404
    Grant.objects.all().delete()
    Room.objects.filter(pk=room.pk).update(is_active=False)
    assert client.get(address).status_code == 404
    client.logout()
    assert client.get(address).status_code == 302


def test_a_room_without_one_has_a_drawing(client, room):
    client.force_login(user("lilei"))
    assert client.get(reverse("room-photo", args=["A302"])).status_code == 404
    assert b"No photo of this room yet" in client.get(reverse("room", args=["A302"])).content
