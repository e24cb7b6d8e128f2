"""Services as a subject meets them, for the clients that people really use."""

from tests.unit.services.conftest import host, serve  # noqa: F401 - fixtures
