"""The inbox does what is posted, in order, and leaves nobody waiting."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial

import pytest

from harness.live.inbox import Inbox


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    inbox = Inbox()
    yield inbox
    inbox.close()


def awake(inbox: Inbox) -> bool:
    return bool(select.select([inbox.fd], [], [], 0)[0])


def test_jobs_are_done_in_order_by_whoever_works(inbox):
    done: list[int] = []
    futures = [inbox.post(lambda n=n: done.append(n)) for n in range(5)]
    assert awake(inbox)
    assert not any(future.done() for future in futures)

    inbox.work()

    assert done == [0, 1, 2, 3, 4]
    assert all(future.done() for future in futures)
    assert not awake(inbox)


def test_a_job_that_raises_lets_its_waiter_go_on_and_the_rest_is_done_next_time(inbox):
    done: list[str] = []

    def broken() -> None:
        raise KeyError("a bug")

    first, second = inbox.post(broken), inbox.post(lambda: done.append("second"))
    with pytest.raises(KeyError):
        inbox.work()

    assert first.done()
    assert first.exception() is None
    assert not second.done()
    assert awake(inbox), "the rest must wake its reader"
    inbox.work()
    assert done == ["second"]


def test_a_job_that_works_itself_begins_no_other_in_its_middle(inbox):
    done: list[str] = []

    def outer() -> None:
        done.append("outer begins")
        inbox.post(lambda: done.append("posted by outer"))
        inbox.work()
        assert not awake(inbox), "whoever waits in a job must be able to sleep"
        done.append("outer ends")

    inbox.post(outer)
    inbox.post(lambda: done.append("second"))
    inbox.work()

    assert done == ["outer begins", "outer ends", "second", "posted by outer"]


def test_nobody_waits_for_what_is_posted_after_the_end_or_left_at_the_end(inbox):
    done: list[int] = []
    left = inbox.post(lambda: done.append(1))
    inbox.close()
    late = inbox.post(lambda: done.append(2))
    inbox.work()
    inbox.close()

    assert left.result(0) is None
    assert late.result(0) is None
    assert done == []


def test_nobody_can_call_off_what_others_wait_for(inbox):
    done: list[int] = []
    future = inbox.post(lambda: done.append(1))

    assert not future.cancel()
    inbox.work()
    assert done == [1]


def post_often(inbox: Inbox, futures: list[Future[None]], begun: threading.Event) -> None:
    for _ in range(50):
        futures.append(inbox.post(lambda: None))
        begun.set()


def test_posting_while_it_is_closed_neither_fails_nor_hangs():
    for _ in range(50):
        inbox = Inbox()
        futures: list[Future[None]] = []
        begun = threading.Event()
        post = partial(post_often, inbox, futures, begun)
        thread = threading.Thread(target=post)
        thread.start()
        begun.wait(20)
        inbox.work()
        inbox.close()
        thread.join(20)
        assert len(futures) == 50
        assert all(future.result(1) is None for future in futures)
