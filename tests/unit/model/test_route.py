"""Which step of the script answers a request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from harness.case.model import ScriptStep
from harness.services.model.heard import Heard, Tool, ToolResult
from harness.services.model.route import (
    BEYOND,
    SIDE,
    TURN,
    UNSCRIPTED,
    State,
    left,
    release,
    route,
    settle,
)
from harness.subjects.base import Dialect

PLAIN = Dialect()
AGENT = Dialect(offers_tools=True)


def heard(key: int, *, tools: bool = True, result: str | None = None) -> Heard:
    results = () if result is None else (ToolResult("id", result),)
    return Heard("chat", tools=(Tool("bash"),) if tools else (), results=results, key=key)


def steps(*repeats: int | None) -> list[ScriptStep]:
    return [ScriptStep(say=str(at), repeat=repeat) for at, repeat in enumerate(repeats)]


class Client:
    """Asks one request after the other, and settles each."""

    def __init__(self, script, dialect=PLAIN):
        self.script, self.dialect, self.state, self.key = script, dialect, State(), 0

    def ask(self, *, whole=True, serves=True, again=False, **more):
        self.key += not again
        routed = route(self.state, heard(self.key, **more), self.script, self.dialect)
        self.state = routed.state
        if routed.kind == TURN:
            if not serves:
                self.state = release(self.state, routed.ticket)
            self.state = settle(self.state, routed.ticket, complete=whole)
        return routed.position[0] if routed.position else routed.kind

    @property
    def left(self):
        return left(self.state, self.script)


def test_turns_are_served_in_order_and_then_no_more():
    client = Client(steps(1, 2, 1))
    assert [client.ask() for _ in range(6)] == [0, 1, 1, 2, BEYOND, BEYOND]
    assert (client.state.turns, client.state.served, client.state.beyond) == (4, 4, 2)
    assert client.left == 0


def test_what_is_not_served_is_left():
    client = Client(steps(1, 2, 1))
    assert client.left == 3
    client.ask()
    client.ask()
    assert client.left == 2
    client.ask()
    assert client.left == 1


def test_without_a_script_every_turn_is_served_and_nothing_is_left():
    client = Client(UNSCRIPTED)
    assert [client.ask() for _ in range(5)] == [0] * 5
    assert client.left == 0


def test_always_is_never_left_over():
    client = Client(steps(1, None))
    assert client.left == 1
    assert [client.ask() for _ in range(4)] == [0, 1, 1, 1]
    assert client.left == 0


@given(st.lists(st.sampled_from(["whole", "cut", "status"]), max_size=30))
def test_one_client_gets_each_turn_until_it_is_served_whatever_happens(outcomes):
    client = Client(steps(1, 1, 2, 1, 1))
    due = [0, 1, 2, 2, 3, 4]
    for outcome in outcomes:
        expected = due[0] if due else BEYOND
        assert client.ask(whole=outcome != "cut", serves=outcome != "status") == expected
        if outcome == "whole":
            due = due[1:]
    assert client.state.served == 6 - len(due)
    assert client.left == len(set(due))


def test_a_retry_counts_as_another_attempt_at_the_same_turn():
    script, state = steps(1, 1), State()
    attempts = []
    for _ in range(3):
        routed = route(state, heard(7), script, PLAIN)
        state = settle(release(routed.state, routed.ticket), routed.ticket, complete=True)
        attempts.append((routed.position, routed.attempt))
    assert attempts == [((0, 0), 1), ((0, 0), 2), ((0, 0), 3)]


def test_a_complete_reply_that_a_fault_made_wrong_serves_the_turn():
    client = Client(steps(1, 1))
    assert [client.ask(), client.ask(again=True)] == [0, 1]


def test_a_request_sent_again_while_its_reply_hangs_gets_the_same_turn():
    script = steps(1, 1)
    first = route(State(), heard(1), script, PLAIN)
    again = route(first.state, heard(1), script, PLAIN)
    assert (again.position, again.attempt) == ((0, 0), 2)
    state = settle(again.state, again.ticket, complete=True)
    state = settle(state, first.ticket, complete=False)
    assert route(state, heard(2), script, PLAIN).position == (1, 0)


def test_two_whole_replies_to_one_turn_serve_it_once():
    script = steps(1, 1)
    first = route(State(), heard(1), script, PLAIN)
    again = route(first.state, heard(1), script, PLAIN)
    state = settle(again.state, again.ticket, complete=True)
    state = settle(state, first.ticket, complete=True)
    assert state.served == 1
    assert route(state, heard(2), script, PLAIN).position == (1, 0)


def test_a_hanging_reply_holds_no_turn_even_for_a_changed_request():
    script = steps(1, 1)
    hung = route(State(), heard(1), script, PLAIN)
    state = release(hung.state, hung.ticket)
    assert route(state, heard(2), script, PLAIN).position == (0, 0)


def test_requests_in_parallel_get_turns_of_their_own():
    script = steps(1, 1, 1)
    state = State()
    positions = []
    for key in (1, 2, 3):
        routed = route(state, heard(key), script, PLAIN)
        positions.append(routed.position)
        state = routed.state
    assert positions == [(0, 0), (1, 0), (2, 0)]
    assert route(state, heard(4), script, PLAIN).kind == BEYOND


def test_a_turn_that_was_cut_goes_before_later_ones():
    script = steps(1, 1, 1)
    first = route(State(), heard(1), script, PLAIN)
    second = route(first.state, heard(2), script, PLAIN)
    state = settle(second.state, second.ticket, complete=True)
    state = settle(state, first.ticket, complete=False)
    assert left(state, script) == 2
    assert route(state, heard(3), script, PLAIN).position == (0, 0)


def test_a_client_can_be_faster_than_the_news_that_its_reply_has_left():
    script = steps(1, 1)
    first = route(State(), heard(1), script, PLAIN)
    following = route(first.state, heard(2), script, PLAIN)
    assert following.position == (1, 0)


def test_a_step_whose_condition_fails_is_skipped_and_not_left():
    script = [
        ScriptStep(say="a"),
        ScriptStep(say="b", when="^error"),
        ScriptStep(say="c"),
    ]
    client = Client(script)
    assert [client.ask(), client.ask(result="fine\n")] == [0, 2]
    assert client.left == 0
    client = Client(script)
    served = [client.ask(), client.ask(result="oh\nerror: 1"), client.ask(result="error")]
    assert served == [0, 1, 2]


def test_a_condition_fails_before_there_is_a_result():
    client = Client([ScriptStep(say="a", when=""), ScriptStep(say="b")])
    assert client.ask() == 1


def test_a_loop_goes_on_while_its_condition_holds():
    client = Client([ScriptStep(say="again", when="busy", repeat=None), ScriptStep(say="done")])
    results = ["busy", "busy", "free", "busy"]
    assert [client.ask(result=result) for result in results] == [0, 0, 1, BEYOND]


def test_conditional_steps_at_the_end_are_skipped_by_a_request_and_left_without_one():
    script = [ScriptStep(say="a"), ScriptStep(say="b", when="error")]
    client = Client(script)
    client.ask()
    assert client.left == 1
    assert client.ask(result="fine") == BEYOND
    assert client.left == 0


def test_a_retry_keeps_its_turn_though_the_last_result_has_changed():
    script = [ScriptStep(say="a", when="error"), ScriptStep(say="b")]
    client = Client(script)
    assert client.ask(result="fine", whole=False) == 1
    assert client.ask(result="error: aborted") == 1


def test_a_toolless_request_is_a_side_request_once_tools_were_seen():
    client = Client(steps(1, 1))
    assert [client.ask(), client.ask(tools=False), client.ask()] == [0, SIDE, 1]
    assert client.state.turns == 2


def test_a_toolless_request_is_a_side_request_from_the_first_where_the_agent_offers_tools():
    client = Client(steps(1), AGENT)
    assert [client.ask(tools=False), client.ask(tools=False), client.ask()] == [SIDE, SIDE, 0]


def test_an_agent_without_tools_gets_turns():
    client = Client(steps(1, 1))
    assert [client.ask(tools=False), client.ask(tools=False)] == [0, 1]


def test_side_requests_are_answered_beyond_the_script_too():
    client = Client(steps(1))
    assert [client.ask(), client.ask(tools=False), client.ask()] == [0, SIDE, BEYOND]


class Crowd(RuleBasedStateMachine):
    """Many clients at once: nothing is served twice, nothing gets lost."""

    tickets = Bundle("tickets")

    def __init__(self):
        super().__init__()
        self.script = steps(1, 2, 1, 3)
        self.all = {(0, 0), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (3, 2)}
        self.state = State()
        self.flying: dict[int, tuple[int, tuple[int, int]]] = {}
        self.served: set[tuple[int, int]] = set()

    @rule(target=tickets, key=st.integers(0, 4), serves=st.booleans())
    def ask(self, key, serves):
        before = self.state
        routed = route(before, heard(key), self.script, PLAIN)
        self.state = routed.state
        held = {pos for _, pos in self.flying.values()}
        if routed.kind == BEYOND:
            assert self.served | held == self.all
            return 0
        position = routed.position
        assert position in self.all - self.served
        mine = {pos for owner, pos in self.flying.values() if owner == key}
        assert position not in held - mine
        if serves:
            self.flying[routed.ticket] = (key, position)
        else:
            self.state = release(self.state, routed.ticket)
        return routed.ticket

    @rule(ticket=consumes(tickets), complete=st.booleans())
    def end(self, ticket, complete):
        self.state = settle(self.state, ticket, complete=complete)
        if ticket in self.flying:
            _, position = self.flying.pop(ticket)
            if complete:
                self.served.add(position)

    @invariant()
    def the_books_are_right(self):
        assert self.state.served == len(self.served)
        unserved = {step for step, _ in self.all - self.served}
        assert left(self.state, self.script) == len(unserved)

    def teardown(self):
        for ticket in list(self.flying):
            self.end(ticket, complete=False)
        for key in range(100, 100 + len(self.all - self.served)):
            routed = route(self.state, heard(key), self.script, PLAIN)
            assert routed.position == min(self.all - self.served)
            self.state = settle(routed.state, routed.ticket, complete=True)
            self.served.add(routed.position)
        assert route(self.state, heard(999), self.script, PLAIN).kind == BEYOND


TestCrowd = Crowd.TestCase
