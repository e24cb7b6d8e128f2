"""The table of all faults. Adding one is one module and one line."""

from __future__ import annotations

from harness.faults import network_name, process_signal
from harness.faults.base import FaultTable
from harness.faults.clock_set import Set, Step
from harness.faults.clock_turn import DaylightChange, LeapDay
from harness.faults.clock_zone import Zone
from harness.faults.filesystem_case_collision import CaseCollision
from harness.faults.filesystem_full import Full
from harness.faults.filesystem_io_error import IoError
from harness.faults.filesystem_missing_path import MissingPath
from harness.faults.filesystem_permission import Permission
from harness.faults.filesystem_read_only import ReadOnly
from harness.faults.filesystem_slow import Slow as SlowFiles
from harness.faults.filesystem_symlink_swap import SymlinkSwap
from harness.faults.filesystem_torn_write import TornWrite
from harness.faults.human_denial import Denial
from harness.faults.human_late_answer import LateAnswer
from harness.faults.human_no_answer import NoAnswer
from harness.faults.identity_home_unset import HomeUnset
from harness.faults.identity_home_unwritable import HomeUnwritable
from harness.faults.identity_home_wrong import HomeWrong
from harness.faults.identity_no_name import NoName
from harness.faults.identity_no_terminal import NoTerminal
from harness.faults.identity_stdin_open import StdinOpen
from harness.faults.identity_stripped_env import StrippedEnv
from harness.faults.model_clean_end import CleanEnd
from harness.faults.model_context_overflow import ContextOverflow
from harness.faults.model_drip import Drip
from harness.faults.model_duplicate_tool_id import DuplicateToolId
from harness.faults.model_empty import Empty
from harness.faults.model_false_done import FalseDone
from harness.faults.model_hang import Hang
from harness.faults.model_invalid_unicode import InvalidUnicode
from harness.faults.model_malformed_arguments import MalformedArguments
from harness.faults.model_malformed_json import MalformedJson
from harness.faults.model_missing_usage import MissingUsage
from harness.faults.model_over_long import OverLong
from harness.faults.model_refusal import Refusal
from harness.faults.model_reset import Reset
from harness.faults.model_same_call import SameCall
from harness.faults.model_slow_first_byte import SlowFirstByte
from harness.faults.model_stall import Stall
from harness.faults.model_status import Status
from harness.faults.model_stream_error import StreamError
from harness.faults.model_truncate import Truncate
from harness.faults.model_unknown_tool import UnknownTool
from harness.faults.model_wrong_content_type import WrongContentType
from harness.faults.model_wrong_usage import WrongUsage
from harness.faults.network_cut import Cut
from harness.faults.network_latency import Latency
from harness.faults.network_loss import Loss
from harness.faults.network_port_taken import PortTaken
from harness.faults.network_refuse import Refuse
from harness.faults.process_fd_limit import FdLimit
from harness.faults.process_lingering_children import LingeringChildren
from harness.faults.process_missing_executable import MissingExecutable
from harness.faults.process_out_of_memory import OutOfMemory
from harness.faults.process_pid_limit import PidLimit
from harness.faults.state_locked_database import LockedDatabase
from harness.faults.state_old_snapshot import OldSnapshot
from harness.faults.state_reused_pid import ReusedPid
from harness.faults.state_stale_lock import StaleLock
from harness.faults.state_torn_journal import TornJournal
from harness.faults.upstream_garbage import Garbage
from harness.faults.upstream_oversized import Oversized
from harness.faults.upstream_redirect_loop import RedirectLoop
from harness.faults.upstream_reset import Reset as UpstreamReset
from harness.faults.upstream_slow import Slow
from harness.faults.upstream_status import Status as UpstreamStatus
from harness.faults.upstream_tls_failure import TlsFailure

FAULTS: FaultTable = {
    fault.name: fault
    for fault in (
        Status(),
        Reset(),
        Hang(),
        Stall(),
        SlowFirstByte(),
        Drip(),
        Truncate(),
        CleanEnd(),
        StreamError(),
        MalformedJson(),
        MalformedArguments(),
        UnknownTool(),
        DuplicateToolId(),
        Empty(),
        Refusal(),
        OverLong(),
        WrongContentType(),
        InvalidUnicode(),
        MissingUsage(),
        WrongUsage(),
        ContextOverflow(),
        FalseDone(),
        SameCall(),
        UpstreamStatus(),
        Slow(),
        UpstreamReset(),
        Garbage(),
        Oversized(),
        RedirectLoop(),
        TlsFailure(),
        process_signal.KILL,
        process_signal.TERMINATE,
        process_signal.STOP,
        OutOfMemory(),
        PidLimit(),
        FdLimit(),
        MissingExecutable(),
        LingeringChildren(),
        Full(),
        ReadOnly(),
        Permission(),
        IoError(),
        MissingPath(),
        TornWrite(),
        SymlinkSwap(),
        SlowFiles(),
        CaseCollision(),
        Cut(),
        Refuse(),
        Latency(),
        Loss(),
        network_name.NOT_FOUND,
        network_name.SILENT,
        PortTaken(),
        Set(),
        Step(),
        Zone(),
        LeapDay(),
        DaylightChange(),
        TornJournal(),
        LockedDatabase(),
        StaleLock(),
        ReusedPid(),
        OldSnapshot(),
        HomeWrong(),
        HomeUnset(),
        HomeUnwritable(),
        NoName(),
        NoTerminal(),
        StdinOpen(),
        StrippedEnv(),
        NoAnswer(),
        LateAnswer(),
        Denial(),
    )
}
