import pytest

from tests import claims


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """What searches hold of an index is of the test before: numbers and versions come again."""
    claims.forget()
