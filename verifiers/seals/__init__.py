"""Seals: signed statements on evidence, chained in a log, checked by whoever was not there.

A statement (in-toto) says what was found and gives the digest of every file that it was found
in. It is signed (DSSE, ed25519) and is one line of a log, in which each line holds the digest
of the line before. Nothing here knows what is sealed; the verbs that judge do.
"""
