"""Is what an answer asserts supported by the payloads?"""

from toolgrade.judges.dimension import Dimension
from toolgrade.judges.present import fair

DIMENSION = Dimension(name="result_utilization", check="utilization", show={"payloads": fair})
