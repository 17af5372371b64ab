"""Check what the notes of an installation warn of."""

import pytest

from tests.helm.charts import read_notes

pytestmark = pytest.mark.xdist_group("helm")


def test_notes_warn_of_an_image_without_a_registry():
    """Compare an installation with a registry with one without: there is no released image."""
    warning = "WARNING: image.registry is empty"

    assert warning in read_notes("embedded")
    assert warning not in read_notes("full")
