"""Grade tool-calling agents check by check."""
