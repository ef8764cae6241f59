"""The public addresses and the desk. Loading the desk takes as long as half of everything else, so only its own pages wait for it:
config.http.middleware gives all others PUBLIC_URLCONF.
"""

from django.contrib import admin
from django.urls import path

from config.public_urls import handler400, handler403, handler404, handler500
from config.public_urls import urlpatterns as public
from wire.admin.login import login

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]

admin.autodiscover()

urlpatterns = [*public, path("admin/login/", login), path("admin/", admin.site.urls)]
