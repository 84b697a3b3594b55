"""Judges against human labels: label sets, agreement, history, trust."""
