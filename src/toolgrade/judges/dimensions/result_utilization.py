"""Is what an answer asserts supported by the payloads?"""

from toolgrade.judges.dimension import Dimension

DIMENSION = Dimension(name="result_utilization", check="utilization")
