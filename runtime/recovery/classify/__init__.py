"""The closed classifier: one class for each failed tool call, and the text that decided.

`text.py` takes the ends of a stream, `lines.py` says what each line is, `rules.py` and `table/`
find evidence, `decide.py` weighs it.
"""

from runtime.recovery.classify.decide import classify

__all__ = ["classify"]
