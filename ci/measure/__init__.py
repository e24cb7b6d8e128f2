"""What ``ci/bench`` measures: the product beside what else could be used, in one run.

Absolute times say more about the machine than about the code. So each figure is a ratio of
two measurements taken alternately, in the same minutes, on the same machine.
"""
