# SPDX-License-Identifier: Apache-2.0
"""Three small analyses with data that are made here: their claims are reproduced, and wrong claims are not.

    analyses.py [--image REF@DIGEST --runtime RUNTIME]

The claimed numbers come from elsewhere than the analyses: from exact fractions, from the definition, from a first run.
"""
import os
import sys
from fractions import Fraction

from kit import Claim, Tap, judge, require_programs

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "claims")
# x from 0 to 40, y off a line by what a fixed rule gives; two decimals, so that fractions are exact.
POINTS = [(i, (207 * i + 150 + 13 * ((i * 7919) % 31 - 15)) / 100) for i in range(41)]


def code(name):
    with open(os.path.join(HERE, name), "rb") as f:
        return {name: f.read()}


def line():
    """Slope and intercept in exact arithmetic."""
    points = [(Fraction(x), Fraction(round(y * 100), 100)) for x, y in POINTS]
    n = len(points)
    sx, sy = sum(x for x, _ in points), sum(y for _, y in points)
    slope = (n * sum(x * y for x, y in points) - sx * sy) / (n * sum(x * x for x, _ in points) - sx * sx)
    return float(slope), float((sy - slope * sx) / n)


def target(name, value, **tolerance):
    return {"name": name, "value": value, "tolerance": tolerance}


def main():
    require_programs()
    argv = sys.argv[1:]
    image = argv[argv.index("--image") + 1] if "--image" in argv else None
    options = argv[argv.index("--runtime"):] if "--runtime" in argv else []
    tap = Tap()

    def case(name, claim, outcome, reason, *more):
        if image:
            claim.change(image={"digest": image.rsplit("@", 1)[1]})
        status, record, said = claim.run(*options, *more, **({"image": image} if image else {}))
        tap.case(name, judge(status, record, said, outcome, reason))
        claim.empty()
        return record

    csv = "x,y\n" + "".join(f"{x},{y:.2f}\n" for x, y in POINTS)
    slope, intercept = line()
    with Claim(code("regression.py"), {"points.csv": csv.encode()}, entrypoint="python3 regression.py",
               targets=[target("slope", slope, relative=1e-12), target("intercept", intercept, relative=1e-10)]) as c:
        case("a regression has its closed form", c, "reproduced", "all_within")
        c.change(targets=[target("slope", slope * (1 + 1e-6), relative=1e-9)])
        case("a slope that is wrong in the sixth digit is not reproduced", c, "not_reproduced", "target_outside")
    with Claim(code("montecarlo.py"), {}, entrypoint="python3 montecarlo.py", seed=1,
               targets=[target("pi", 3.141592653589793, absolute=0.05)]) as c:
        record = case("darts come near pi", c, "reproduced", "all_within", "--repeat", "2")
        value = float(record["targets"][0]["values"][0]) if record and record["targets"] else 0
        c.change(targets=[target("pi", value, absolute=0)])
        case("the seed gives the very number again", c, "reproduced", "all_within")
        c.change(seed=2)
        case("another seed gives another", c, "not_reproduced", "target_outside")
    # (1 + 2^-27)^2 = 1 + 2^-26 + 2^-54, of which the last is rounded away.
    with Claim(code("residual.py"), {}, entrypoint="python3 residual.py",
               targets=[target("plain", 0, absolute=0), target("fused", 2.0 ** -54, absolute=0)]) as c:
        case("what a fused multiplication keeps is told to the last digit", c, "reproduced", "all_within")
        c.change(targets=[target("plain", 2.0 ** -54, absolute=0)])
        case("a claim from a CPU that fuses is not reproduced by one that does not", c, "not_reproduced", "target_outside")
        c.change(targets=[target("plain", 2.0 ** -54, absolute=1e-15)])
        case("unless its tolerance allows for it", c, "reproduced", "all_within")
    tap.finish()


if __name__ == "__main__":
    main()
