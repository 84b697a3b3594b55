"""Recovery: what the agent did after results that failed, and whether it claimed what no tool did."""

from toolgrade.gates.recovery.decide import check_recovery

__all__ = ["check_recovery"]
