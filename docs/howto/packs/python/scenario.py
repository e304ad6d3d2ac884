# SPDX-License-Identifier: Apache-2.0
"""Tries the pack: one asks, and what behaviors do about it is done."""


def main(runtime):
    runtime.append("greeting.asked", {"name": "world"})
    runtime.run_until_idle()
