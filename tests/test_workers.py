"""How tests are spread over workers."""

import pytest


@pytest.mark.xdist_group("e2e")
def test_what_is_of_one_group_has_one_worker(request):
    """Lost without a word by pytest 9.2 with xdist 3.8: Sparks and kills starved each other."""
    is_grouped = getattr(request.config.option, "loadgroup", False)

    assert not is_grouped or request.node.nodeid.endswith("@e2e")
