# SPDX-License-Identifier: Apache-2.0
# What /proc and /sys tell.
#: row procfs
#: varies
#: rootless
for f in uptime loadavg meminfo stat version cpuinfo cmdline filesystems self/status self/stat self/statm self/io \
	self/limits self/mountinfo self/maps self/cgroup self/sched sys/kernel/hostname sys/kernel/osrelease \
	sys/kernel/pid_max sys/vm/overcommit_memory net/dev vmstat diskstats interrupts self/oom_score self/wchan; do
	echo "== $f"
	cat /proc/$f 2>&1
done
cat /sys/devices/system/cpu/online /sys/devices/system/cpu/possible 2>&1
ls /proc /sys 2>&1
