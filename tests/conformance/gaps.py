"""What a backend is known not to do, by backend and grade.

The table is strict in both directions: a capability that is missing and not listed fails,
and so does one that is listed and works.
"""

from __future__ import annotations

from collections.abc import Mapping

GAPS: Mapping[tuple[str, str], frozenset[str]] = {
    ("bubblewrap", "root"): frozenset(),
    ("docker", "root"): frozenset(),
    ("docker/sidecar", "root"): frozenset(),
    ("docker/runsc", "root"): frozenset(
        {
            "disk.resize",
            "files.answers",
            "files.attempts",
            "files.holds",
            "files.locks",
            "limits.memory",
            "nest",
            "network.binds",
            "network.counter",
            "oom",
            "process.descriptors",
            "processes.inspected",
            "remount",
        }
    ),
    ("bubblewrap", "user"): frozenset(
        {"limits.memory", "oom", "files.system", "user.separate", "user.root"}
    ),
}

_LS = "ls and stat of coreutils 9 give a flag that gVisor's kernel of 2022 refuses"
#: What else is not as it should be under a gVisor of Debian 12: tests that fail there, and why.
#: Strict too: one that passes is a gap that is closed; but for what depends on the hour.
KNOWN: Mapping[str, str] = {
    "test_a_file_is_cut_in_its_place_and_given_back": _LS,
    "test_a_file_that_is_too_long_to_keep_is_not_cut": _LS,
    "test_a_path_can_be_given_to_root": _LS,
    "test_a_path_can_be_taken_away_and_put_back": _LS,
    "test_a_path_is_left_where_nothing_was_and_taken_away_again": _LS,
    "test_a_program_is_gone_and_comes_back_as_it_was": _LS,
    "test_a_program_sees_its_three_streams_and_no_other_descriptor": _LS,
    "test_links_of_the_subject_are_never_written_through": _LS,
    "test_names_that_look_special_are_just_names": _LS,
    "test_no_process_of_the_host_is_seen_or_signalled": _LS,
    "test_nothing_inside_can_reach_a_process_of_the_machine": _LS,
    "test_private_files_are_not_readable": _LS,
    "test_the_agent_without_a_name_is_the_same_user_in_everything_else": _LS,
    "test_the_files_of_a_sandbox_do_not_depend_on_the_umask_of_the_harness": _LS,
    "test_two_sandboxes_do_not_see_each_other": _LS,
    "test_what_else_is_trusted_is_still_there": _LS,
    "test_what_is_planted_is_there_for_the_agent_and_is_its_own": _LS,
    "test_a_fork_bomb_is_dead_after_kill": "it may starve the keeper, and the sandbox is lost",
    "test_a_program_has_no_capability_and_can_gain_none": "it shows no ambient capabilities",
    "test_a_zombie_is_shown_as_one": "it lists no zombies",
    "test_an_outside_address_is_refused_at_once": "it has no way to there, and says so instead",
    "test_pid_1_tells_nothing_of_the_harness": "it shows how pid 1 was started, for good",
    "test_root_of_the_sandbox_has_no_power_over_the_machine": "root may make device files",
    "test_signals_have_their_default_meaning": "it shows no signal masks",
}
SOMETIMES = frozenset({"test_a_fork_bomb_is_dead_after_kill"})
