"""What most places have: a name in both languages."""

from django.db import models
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _


class Named(models.Model):
    """Something with a name in both languages, shown in the reader's."""

    name_en = models.CharField(_("English name"), max_length=100)
    name_zh = models.CharField(_("Chinese name"), max_length=100)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name_zh if (get_language() or "").startswith("zh") else self.name_en
