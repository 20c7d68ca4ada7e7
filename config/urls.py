"""Every HTTP route, in one list."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from agentruntime.edges.views import healthz, readyz
from booking.views.account import SignIn

admin.site.site_header = admin.site.site_title = "Roomwise"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", SignIn.as_view(), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("", include("booking.urls")),
]
