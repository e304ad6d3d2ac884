# SPDX-License-Identifier: Apache-2.0
"""A straight line through points by least squares: the answer has a closed form."""
import csv
import json
import os

with open(os.path.join(os.environ["DOTLAB_DATA_DIR"], "points.csv"), newline="", encoding="ascii") as f:
    points = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(f)]
n = len(points)
mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
with open(os.path.join(os.environ["DOTLAB_OUT_DIR"], "results.json"), "w", encoding="ascii") as f:
    json.dump({"slope": slope, "intercept": my - slope * mx}, f)
