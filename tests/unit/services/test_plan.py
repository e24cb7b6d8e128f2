"""Where the services of a case are found."""

from __future__ import annotations

from pathlib import Path

from harness.case.model import Case, SandboxDecl, ServiceDecl, Where
from harness.services.plan import plan
from sandboxes.base import Listen


def case(*names: str, network: str = "services") -> Case:
    return Case(
        "x",
        Path("x.yaml"),
        Where("x.yaml", 1, 1),
        {},
        sandbox=SandboxDecl(network=network),
        services=[ServiceDecl("http", name) for name in names],
    )


def test_each_service_has_an_address_of_its_own_after_the_models():
    made = plan(case("b", "a"))

    assert made.addresses == {"model": "127.0.1.1", "b": "127.0.1.2", "a": "127.0.1.3"}
    assert made.listens[:4] == (
        Listen("127.0.0.1", 53, "udp"),
        Listen("127.0.0.1", 53, "tcp"),
        Listen("127.0.1.1", 80),
        Listen("127.0.1.1", 8080),
    )
    assert len(made.listens) == 8


def test_without_low_ports_only_the_high_one_is_bound():
    assert {listen.port for listen in plan(case(), low_ports=False).listens} == {53, 8080}


def test_without_a_network_nothing_is_bound():
    assert plan(case("a", network="none")).listens == ()


def test_many_services_stay_within_the_loopback_network():
    made = plan(case(*(f"s{n}" for n in range(600))))

    assert len(set(made.addresses.values())) == 601
    assert all(address.startswith("127.0.") for address in made.addresses.values())
