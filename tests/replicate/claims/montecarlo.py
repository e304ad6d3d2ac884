# SPDX-License-Identifier: Apache-2.0
"""Pi by throwing darts: the number depends on the seed, and on nothing else."""
import json
import os
import random

draw = random.Random(int(os.environ["DOTLAB_SEED"]))
throws = 20000
inside = sum(draw.random() ** 2 + draw.random() ** 2 < 1 for _ in range(throws))
with open(os.path.join(os.environ["DOTLAB_OUT_DIR"], "results.json"), "w", encoding="ascii") as f:
    json.dump({"pi": 4 * inside / throws}, f)
