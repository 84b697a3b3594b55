"""The deterministic half of `utilization`: checkable claims in the answers against the payloads of tools."""

from toolgrade.gates.utilization.decide import check_utilization

__all__ = ["check_utilization"]
