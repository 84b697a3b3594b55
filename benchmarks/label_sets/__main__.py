"""Build the label sets that ship under calibration/ from the public data beside the checkout.

Run: python benchmarks/label_sets ../shared/data calibration
The sets come out byte for byte the same every time.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import bfcl
import box_scores
import quintd
import when2call
from writing import write_card

UNLABELLED: dict[str, Any] = {
    "dimension": "recovery_quality",
    "name": "unlabelled",
    "title": "No labels: nobody has published people's verdicts on how agents recover from failed calls",
    "source": "none",
    "licence": "Apache-2.0",
    "labelled_by": "nobody",
    "human": True,
    "sampling": "none",
    "sampling_design": "convenience",
    "rubric_version": "1.0",
    "notes": "Judges of recovery_quality are refused until you label episodes of your own: see toolgrade labels. "
    "Nothing can be concluded about any of them.",
}
LICENCES = {
    "result_utilization/quintd": "quintd",
    "result_utilization/box_scores": "accuracy_shared_task",
    "argument_grounding/bfcl_answers": "bfcl",
    "route_choice/bfcl_irrelevance": "bfcl",
    "route_choice/when2call": "when2call",
}


def main() -> None:
    data, root = Path(sys.argv[1]), Path(sys.argv[2])
    for build in (quintd.build, box_scores.build, bfcl.arguments, bfcl.routes, when2call.build):
        build(data, root)
    write_card(root, UNLABELLED)
    print("recovery_quality/unlabelled: a card, no labels")
    for name, source in LICENCES.items():
        shutil.copyfile(data / source / "LICENSE.upstream", root / name / "LICENSE.upstream")


if __name__ == "__main__":
    main()
