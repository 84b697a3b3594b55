"""Recovery: what the agent did after results that failed, and whether it claimed what no tool did."""
