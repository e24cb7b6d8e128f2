"""The daemon: all parts put together, and the API in front of them."""
