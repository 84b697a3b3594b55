"""The judges' place in a run: open questions are asked once each, and the verdicts folded back into the checks.

Only a trusted judge decides. What an advisory or refused one says stays beside the check, with a rate of
its own.
"""
