"""The table of all faults. Adding one is one module and one line."""

from __future__ import annotations

from harness.faults import network_name, process_signal
from harness.faults.base import FaultTable
from harness.faults.clock_set import Set, Step
from harness.faults.clock_zone import Zone
from harness.faults.filesystem_full import Full
from harness.faults.filesystem_missing_path import MissingPath
from harness.faults.filesystem_permission import Permission
from harness.faults.filesystem_read_only import ReadOnly
from harness.faults.network_cut import Cut
from harness.faults.network_latency import Latency
from harness.faults.network_refuse import Refuse
from harness.faults.process_out_of_memory import OutOfMemory
from harness.faults.process_pid_limit import PidLimit

FAULTS: FaultTable = {
    fault.name: fault
    for fault in (
        process_signal.KILL,
        process_signal.TERMINATE,
        process_signal.STOP,
        OutOfMemory(),
        PidLimit(),
        Full(),
        ReadOnly(),
        Permission(),
        MissingPath(),
        Cut(),
        Refuse(),
        Latency(),
        network_name.NOT_FOUND,
        network_name.SILENT,
        Set(),
        Step(),
        Zone(),
    )
}
