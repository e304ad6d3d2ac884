# SPDX-License-Identifier: Apache-2.0
"""The table of attacks: what each tries, why it is contained, how it is run and judged. attacks.def
has the same names, which run.py checks."""
import judges as j


class Case:
    """options: of `run`. control: without a sandbox it must escape, or its canary is not worth a thing.
    modes: None, or "det" where it is an attack on determinism. judge: looks at what is left outside.
    told: the reason by which the report of a host that cannot contain it has to say so."""

    def __init__(self, tries, because, options=(), control=False, det=False, judge=None, told=None, mib=0,
                 statuses=(0, 121), runs=1, watch=False):
        self.tries, self.because, self.options, self.control = tries, because, options, control
        self.det, self.judge, self.told, self.mib, self.statuses, self.runs = det, judge, told, mib, statuses, runs
        self.watch = watch


PIDNS = "own process namespace and /proc"
GUARD = "init is not dumpable and of another credential"
VIEW = "not in the view"
FILTER = "deny filter"
CAPS = "no capabilities"
NETNS = "own network namespace"
IPCNS = "own IPC namespace"
KILLED = "the end of init ends all"
OUT = "output is read without following, opening or trusting anything"
ENGINE = "held by the engine"
OOM = (0, 121, 137)

CASES = {
    "proc/see_host_pid": Case("find a host process by its command line", PIDNS, control=True),
    "proc/signal_host": Case("signal a host process", PIDNS, control=True),
    "proc/ptrace_host": Case("trace a host process", PIDNS, control=True),
    "proc/ptrace_init": Case("trace the sandbox's init", GUARD),
    "proc/proc_pid1_root": Case("reach the host's tree through /proc/1/root", GUARD),
    "proc/init_mem": Case("read the memory of init", GUARD),
    "proc/init_exe_overwrite": Case("overwrite the program that init runs", GUARD),
    "proc/proc_environ_leak": Case("read the host's environment from /proc", "init starts with none", control=True),
    "proc/init_limits": Case("starve init by limits, scheduling, priority", GUARD),
    "proc/setns_init": Case("enter init's namespaces", GUARD),
    "proc/oom_score": Case("become exempt from the OOM killer", CAPS),
    "fd/fd_leak": Case("use an inherited descriptor (77 is open on the host)", "close_range before exec", control=True),
    "fd/init_fds": Case("open init's descriptors through /proc/1/fd", GUARD),
    "fs/host_read": Case("open a secret of the host by its path", VIEW, control=True),
    "fs/home_dirs": Case("open /root, /home, /etc/shadow, /var, /boot", VIEW, control=True),
    "fs/dotdot": Case("walk above the root by 300 times ..", "pivot_root", control=True),
    "fs/proc_cwd_link": Case("a symlink through /proc/self/root and cwd", "resolves inside the root", control=True),
    "fs/bind_dotdot": Case("leave a shared directory by ..", "the parent is the sandbox's", options=("--bind", "{bind}"),
                           control=True),
    "fs/bind_ro_write": Case("write into a directory that is shown read-only", "read-only mount",
                             options=("--bind-ro", "{bind}")),
    "fs/handle": Case("open a file of the host by its handle", FILTER),
    "fs/chroot": Case("chroot, to walk out of it", CAPS),
    "fs/root_write": Case("write to system files or make new ones", "read-only view"),
    "fs/cwd_write": Case("change the host's working directory", "private copy", judge=j.cwd_untouched),
    "fs/mount_tmpfs": Case("mount a tmpfs over /tmp", FILTER),
    "fs/new_mount_api": Case("fsopen, open_tree, mount_setattr", FILTER),
    "fs/umount_mask": Case("unmount what hides parts of /proc, or /proc itself", FILTER),
    "fs/dev_nodes": Case("open dangerous device nodes", "minimal /dev"),
    "fs/mknod": Case("make a device node", CAPS),
    "fs/setuid_plant": Case("leave a setuid file in the output and in a shared directory", "nosuid, mode bits are dropped",
                            options=("--out", "{out}", "--bind", "{bind}"), judge=j.no_setuid),
    "priv/no_new_privs": Case("no_new_privs must be set", "set before exec", control=True),
    "priv/setuid0": Case("become uid 0, drop groups", CAPS),
    "priv/capabilities": Case("hold a capability in any set", CAPS),
    "priv/userns": Case("make a user namespace", FILTER),
    "priv/other_ns": Case("make any other namespace", FILTER),
    "priv/pidfd_getfd": Case("take a descriptor from init", GUARD),
    "sys/kexec": Case("load another kernel", FILTER),
    "sys/modules": Case("load or remove kernel modules", FILTER),
    "sys/reboot": Case("restart the machine", FILTER),
    "sys/set_clock": Case("set the clock", CAPS),
    "sys/bpf": Case("bpf(2)", FILTER),
    "sys/perf": Case("perf_event_open(2)", FILTER),
    "sys/userfaultfd": Case("userfaultfd(2)", FILTER),
    "sys/io_uring": Case("io_uring_setup(2)", FILTER),
    "sys/keyring": Case("find the host user's key, add one", FILTER, control=True),
    "sys/seccomp_mode": Case("a seccomp filter must be active", "Seccomp: 2", control=True),
    "sys/int80": Case("a 32-bit system call", FILTER),
    "sys/x32": Case("an x32 system call", FILTER),
    "sys/exotic_sockets": Case("vsock, AF_ALG, packet, XDP and other sockets", FILTER),
    "sys/ioports": Case("iopl, ioperm", CAPS),
    "sys/sched_rt": Case("real-time or higher priority", CAPS),
    "sys/coredump": Case("core dumps must be off", "RLIMIT_CORE 0"),
    "sys/mlock": Case("lock 64 MiB in memory", "RLIMIT_MEMLOCK"),
    "leak/proc_sys_write": Case("open sysctls for writing", "read-only /proc/sys"),
    "leak/cgroup_write": Case("make a cgroup, open release_agent", "no cgroupfs"),
    "leak/kallsyms": Case("kernel addresses in kallsyms", "masked"),
    "leak/cmdline": Case("the host kernel's command line", "masked", control=True),
    "leak/dmesg": Case("the kernel's log", FILTER),
    "leak/kcore": Case("kcore, kmsg, timer_list, slabinfo", "masked"),
    "leak/sysfs": Case("the host's devices and firmware in /sys", "minimal /sys"),
    "leak/hostname": Case("see or change the host's name", "own UTS namespace", control=True),
    "ipc/sysv_shm": Case("attach a host SysV segment", IPCNS, control=True),
    "ipc/abstract_unix": Case("connect to a host abstract socket", NETNS, control=True),
    "ipc/path_unix": Case("connect to a host unix socket by path", VIEW, control=True),
    "ipc/dev_shm": Case("open a host file in /dev/shm", "own /dev/shm", control=True),
    "ipc/mqueue": Case("open a host message queue", IPCNS, control=True),
    "net/host_loopback": Case("connect to a host listener on 127.0.0.1", NETNS, control=True),
    "net/ifaces": Case("any interface but lo", NETNS),
    "net/route_out": Case("a route to the outside", NETNS),
    "res/forkbomb": Case("300 children at once (limit 128)", "pids limit", options=("--pids", "128"), told="limit_degraded"),
    "res/threadbomb": Case("600 threads at once (limit 512)", "pids limit", told="limit_degraded"),
    "res/membomb": Case("touch 768 MiB (limit 256)", "memory limit", options=("--memory", "256M"), told="limit_degraded", mib=768,
                        statuses=OOM),
    "res/memfd_hoard": Case("keep 256 MiB in a memfd (limit 128)", "memory limit", options=("--memory", "128M"), told="limit_degraded",
                            mib=256, statuses=OOM),
    "res/tmp_files": Case("80 files of 8 MiB in /tmp", "tmpfs size"),
    "res/cwd_files": Case("80 files of 8 MiB in the working directory", "size of the private copy"),
    "res/inodes": Case("300,000 files in /tmp", "tmpfs inodes"),
    "res/fd_bomb": Case("open 5000 descriptors", "RLIMIT_NOFILE"),
    "res/output_flood": Case("write 24 MiB to stderr", "passed on, not kept", judge=j.flood_is_not_kept, watch=True),
    "life/stop_self": Case("stop the whole process group; --timeout must fire", "killed by host time",
                           options=("--timeout", "2s"), judge=j.timed_out, statuses=(123, 124)),
    "life/ignore_signals": Case("block every signal and compute; --timeout must fire", "killed by host time",
                                options=("--timeout", "2s"), judge=j.timed_out, statuses=(124,)),
    "life/daemon_survives": Case("a daemon outlives the sandbox", KILLED, judge=j.nothing_left, runs=2),
    "life/kill_init": Case("kill the sandbox's init", "ignored inside, or a clean end", judge=j.nothing_left,
                           statuses=(0, 121, 125, 137)),
    "life/kill_all": Case("kill(-1, SIGKILL)", "init is spared", judge=j.nothing_left, statuses=(0, 121, 137)),
    "life/shell_bg": Case("sh leaves background jobs", KILLED, judge=j.nothing_left),
    "life/fork_storm": Case("fork and exit for ever; --timeout must get all", KILLED, options=("--timeout", "2s"),
                            judge=j.gone_in_time, statuses=(0, 121, 124)),
    "life/call_storm": Case("40,000 random system calls", "init takes nothing for granted", options=("--timeout", "40s"),
                            judge=j.nothing_left, statuses=(0, 121)),
    "plant/out_dirlink": Case("a parent directory of the output becomes a symlink", OUT, options=("--out", "{out}"),
                              judge=j.out_has_no_secret),
    "plant/out_symlink": Case("symlinks to a secret, to /proc/self/root, above the root", OUT, options=("--out", "{out}"),
                              judge=j.out_has_no_secret),
    "plant/out_socket": Case("a unix socket in the output", OUT, options=("--out", "{out}"), judge=j.regular_out),
    "plant/out_fifo": Case("a fifo in the output", OUT, options=("--out", "{out}"), judge=j.regular_out),
    "plant/out_sparse": Case("a sparse file of 1 TiB in the output", OUT, options=("--out", "{out}"), judge=j.out_is_small,
                             statuses=(0, 121, 125)),
    "plant/out_badname": Case("names with newline, escape, dash, invalid UTF-8", OUT, options=("--out", "{out}"),
                              judge=j.names_are_escaped),
    "plant/out_deep": Case("3000 nested directories", OUT, options=("--out", "{out}"), judge=j.out_ends,
                           statuses=(0, 121, 125)),
    "plant/out_unreadable": Case("files and directories of mode 0", OUT, options=("--out", "{out}"), judge=j.out_ends,
                                 statuses=(0, 121, 125)),
    "plant/out_whiteout": Case("forge an overlay's deletion", CAPS, options=("--out", "{out}"), judge=j.out_ends),
    "det/rdtsc": Case("the time stamp counter", ENGINE, det=True, control=True),
    "det/tsc_enable": Case("switch the time stamp counter on again", ENGINE, det=True, control=True),
    "det/cpuid_enable": Case("switch cpuid on again, see RDRAND and the CPU's number", ENGINE, det=True,
                             told="cpuid_unmasked"),
    "det/rdrand": Case("execute RDRAND, which nothing can trap", "cpuid hides it; a run that still uses it is not enforced",
                       det=True, judge=j.told, told="cpuid_unmasked"),
    "det/aslr": Case("addresses and AT_RANDOM vary", ENGINE, det=True, judge=j.same_detail, runs=2),
    "det/personality": Case("switch address-space randomization on and exec", ENGINE, det=True, judge=j.same_detail,
                            runs=2),
    "det/vsyscall": Case("time by the legacy vsyscall page", ENGINE, det=True),
    "det/vdso_gone": Case("unmap the vDSO", ENGINE, det=True, judge=j.same_detail, runs=2),
    "det/own_filter": Case("a seccomp filter of the guest's own that lets getrandom through", ENGINE, det=True,
                           judge=j.same_detail, runs=2),
    "det/filter_tracer": Case("a seccomp filter of the guest's own that hands a call to a tracer",
                              "the run is not enforced", det=True, judge=j.told),
    "det/rseq_cpu": Case("the CPU's number by rseq", ENGINE, det=True, control=False),
}
