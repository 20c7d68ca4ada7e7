"""A room's photo on the room's own page: shown, replaced, taken away."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from booking import photos
from booking.admin.generic import ModelForm
from booking.models import Room, RoomPhoto

PHOTO_FIELDS = ("photo_file", "photo_remove")


class RoomForm(ModelForm[Room]):
    """A room, and with it the file of a photo or a tick that takes it away."""

    photo_file = forms.FileField(
        label=_("New photo"),
        required=False,
        help_text=_("JPEG, PNG or WebP. It is shrunk; where it was taken is left out."),
        widget=forms.ClearableFileInput(attrs={"accept": "image/jpeg,image/png,image/webp"}),
    )
    photo_remove = forms.BooleanField(label=_("Remove the photo"), required=False)

    class Meta:
        model = Room
        exclude = ()  # as the admin's fieldsets have it

    def clean_photo_file(self) -> photos.Photo | None:
        file = self.cleaned_data["photo_file"]
        if file is None:
            return None
        if file.size > photos.MAX_BYTES:
            size = filesizeformat(photos.MAX_BYTES)
            raise ValidationError(_("At most %(size)s."), code="too_large", params={"size": size})
        try:
            return photos.shrunk(file)
        except photos.Unreadable as error:
            raise ValidationError(
                _("This is no photo we can read: a JPEG, PNG or WebP is."), code="unreadable"
            ) from error

    def keep_photo(self, room: Room) -> None:
        """Write what was asked for the photo of a room that is saved."""
        photo: photos.Photo | None = self.cleaned_data.get("photo_file")
        if photo is not None:
            values = {
                "content": photo.content,
                "digest": photo.digest,
                "width": photo.width,
                "height": photo.height,
            }
            RoomPhoto.objects.update_or_create(room=room, defaults=values)
        elif self.cleaned_data.get("photo_remove"):
            RoomPhoto.objects.filter(room=room).delete()


def preview(room: Room) -> Any:
    """The photo as it is kept, for the admin's page."""
    photo = RoomPhoto.objects.filter(room=room.pk).only("digest", "width", "height").first()
    if photo is None:
        return "-"
    address = f"{reverse('room-photo', args=[room.code])}?v={photo.digest[:12]}"
    return format_html('<img src="{}" alt="" width="240">', address)
