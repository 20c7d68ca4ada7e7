import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token

from booking.models import Building, Profile
from booking.tests.world import user


def profile_of(username):
    return Profile.objects.get(user=user(username))


def test_home_and_language_are_kept_and_spoken_at_once(lilei):
    building = Building.objects.get(code="B")
    done = lilei.post(
        reverse("profile"), {"building": building.pk, "language": "zh-hans"}, follow=True
    )
    kept = profile_of("lilei")
    assert (kept.building, kept.language) == (building, "zh-hans")
    assert lilei.cookies["django_language"].value == "zh-hans"
    assert "个人资料已保存" in done.text


def test_both_may_be_left_open(lilei):
    lilei.post(reverse("profile"), {"building": "", "language": ""})
    kept = profile_of("lilei")
    assert (kept.building, kept.language) == (None, "")


def test_somebody_without_a_profile_gets_one(client):
    client.force_login(user("admin"))
    assert client.get(reverse("profile")).status_code == 200
    client.post(reverse("profile"), {"building": "", "language": "en"})
    assert profile_of("admin").language == "en"


@pytest.mark.parametrize("values", [{"language": "tlh"}, {"building": "999999"}, {"building": "x"}])
def test_what_there_is_not_is_refused(lilei, values):
    before = profile_of("lilei")
    response = lilei.post(reverse("profile"), {"building": "", "language": "", **values})
    assert response.context["form"].errors
    assert profile_of("lilei").building == before.building
    assert profile_of("lilei").language == before.language


def test_a_token_is_made_renewed_and_revoked(lilei):
    assert not Token.objects.exists()
    lilei.post(reverse("renew-token"))
    first = Token.objects.get(user=user("lilei")).key
    assert first in lilei.get(reverse("profile")).text
    lilei.post(reverse("renew-token"))
    assert Token.objects.get(user=user("lilei")).key != first
    lilei.post(reverse("revoke-token"))
    assert not Token.objects.exists()


def test_a_feed_is_made_renewed_and_revoked(lilei, client_of_nobody):
    lilei.post(reverse("renew-feed"))
    first = lilei.get(reverse("profile")).context["feed"]
    assert "Weekly" in client_of_nobody.get(first).content.decode()
    lilei.post(reverse("renew-feed"))
    second = lilei.get(reverse("profile")).context["feed"]
    assert client_of_nobody.get(first).status_code == 404
    assert client_of_nobody.get(second).status_code == 200
    lilei.post(reverse("revoke-feed"))
    assert client_of_nobody.get(second).status_code == 404
    assert lilei.get(reverse("profile")).context["feed"] == ""


@pytest.fixture
def client_of_nobody():
    return Client()


@pytest.mark.parametrize("name", ["renew-token", "revoke-token", "renew-feed", "revoke-feed"])
def test_a_token_is_changed_by_its_person_only(lilei, name):
    Token.objects.create(user=user("hanmei"))
    assert lilei.get(reverse(name)).status_code == 405
    lilei.post(reverse(name))
    assert Token.objects.filter(user=user("hanmei")).exists()
