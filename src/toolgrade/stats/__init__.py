"""Statistics: rates, intervals, agreement, consistency. Pure; randomness is passed in."""
