"""Entry point: ``python -I -S sandboxes/helper CONTROL_FD RUN BWRAP [SOCKET LABEL]``."""

import os
import sys

sys.path[0] = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)  # the folder itself is not to be searched

from sandboxes.helper import server  # noqa: E402 - found through the line above

sys.exit(server.main(int(sys.argv[1]), sys.argv[2], *sys.argv[3:]))
