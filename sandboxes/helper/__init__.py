"""The resident helper that makes, keeps and removes sandboxes.

Run as ``python -I -S <this folder>``: standard library only, so that it starts in
milliseconds and forks cheaply. ``server`` forks a ``keeper`` for each sandbox, which stays
outside of it; the keeper forks ``init``, which is pid 1 inside and starts programs. How the
sandbox's namespaces and root come to be is the ``ground``: ``built`` by bubblewrap, or
``joined`` from a container.
"""
