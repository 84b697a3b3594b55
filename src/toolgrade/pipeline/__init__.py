"""A run: plan, gates, judges, aggregation, thresholds, run directory."""
