"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import settings

# No limit per example: on a busy machine time says nothing about the code, and pytest-timeout ends what hangs.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")
