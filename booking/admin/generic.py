"""Django's admin classes with the type parameters their stubs have and the classes lack."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, TabularInline
    from django.contrib.auth.admin import UserAdmin
    from django.contrib.auth.models import User
    from django.forms import ModelForm

    PeopleAdmin = UserAdmin[User]
else:
    from django.contrib.auth.admin import UserAdmin as PeopleAdmin

    class ModelAdmin(admin.ModelAdmin):
        def __class_getitem__(cls, _parameters: Any) -> type:
            return cls

    class TabularInline(admin.TabularInline):
        def __class_getitem__(cls, _parameters: Any) -> type:
            return cls

    class ModelForm(forms.ModelForm):
        def __class_getitem__(cls, _parameters: Any) -> type:
            return cls


__all__ = ["ModelAdmin", "ModelForm", "PeopleAdmin", "TabularInline"]
