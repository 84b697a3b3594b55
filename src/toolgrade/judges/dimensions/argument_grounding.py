"""Does an argument say what the user meant?"""

from toolgrade.judges.dimension import Dimension

DIMENSION = Dimension(name="argument_grounding", check="arguments")
