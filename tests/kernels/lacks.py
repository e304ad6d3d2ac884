# SPDX-License-Identifier: Apache-2.0
"""Which cases of tests/determinism do not run on a kernel of tests/kernels, each with its reason."""
import copy
import os

# Tens of thousands of stops or more: minutes in a machine that is emulated.
LARGE = {"directories", "held", "every", "inotify_queue_overflows", "pipes_have_stable_inode_numbers",
         "writes_fill_a_pipe", "calls_that_never_stop", "computing_is_left_alone"}

# Natively their threads race, and a machine with one slow CPU decides otherwise than the sandbox.
RACES = {"tee_copies_and_waits"}
# Lines of the expected output that name what x86-64 alone has.
X86_LINES = {"policies": ("cpuid: ", "second vDSO: ")}


def without_x86_lines(case):
    one = copy.copy(case)
    one.out = [line for line in case.out if not line.startswith(X86_LINES.get(case.name, ("\0",)))]
    return one


def why_not(kernel, case, files):
    """The reason, or None."""
    if "cpuid" in case.flags:
        return "this CPU cannot fault `cpuid`"
    if kernel.arch == "arm64" and not all(os.path.exists(path) for path in files):
        return "their programs are x86-64's"
    if case.name in LARGE or case.family == "robust":
        return "they take minutes in an emulated machine"
    return None
