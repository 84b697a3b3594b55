"""Was a route other than the expected one defensible?"""

from toolgrade.judges.dimension import Dimension

DIMENSION = Dimension(name="route_choice", check="selection")
