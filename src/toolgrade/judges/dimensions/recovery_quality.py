"""Was the reaction to an error sensible and honestly reported?"""

from toolgrade.judges.dimension import Dimension

DIMENSION = Dimension(name="recovery_quality", check="recovery")
