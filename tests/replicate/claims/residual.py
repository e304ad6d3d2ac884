# SPDX-License-Identifier: Apache-2.0
"""
The residual of a product, in double precision. Where multiplication and addition are fused (FMA) the product is not
rounded in between, and the last digits are others: with two roundings x * x - x_squared is exactly 0.

The fused one is computed here from integers, as IEEE 754 defines it, so that both are to be had on every CPU; which
of the two an analysis' own library uses is what a tolerance has to allow for.
"""
import json
import os
from fractions import Fraction

x = float.fromhex("0x1.0000002p0")
rounded = x * x
plain = x * x - rounded
fused = float(Fraction(x) * Fraction(x) - Fraction(rounded))
with open(os.path.join(os.environ["DOTLAB_OUT_DIR"], "results.json"), "w", encoding="ascii") as f:
    json.dump({"plain": plain, "fused": fused}, f)
