"""Does an argument say what the user meant?"""

from toolgrade.judges.dimension import Dimension
from toolgrade.judges.present import fair

DIMENSION = Dimension(name="argument_grounding", check="arguments", show={"context": fair})
