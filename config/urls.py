"""Every HTTP route, in one list."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from agentruntime.edges import views as runtime

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("healthz", runtime.healthz, name="healthz"),
    path("readyz", runtime.readyz, name="readyz"),
    path("", include("booking.urls")),
]
