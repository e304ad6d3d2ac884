/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/cpuinfo: the one CPU of the contract, in the words of its architecture. */
#include "supervise/proc/make.h"

#if defined(__x86_64__)
#include "supervise/arch/x86_64/cpuid.h"

/* The kernel's names of the features that the model of arch/x86_64/cpuid.c has. */
static const char flags_v1[] =
	"fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr "
	"sse sse2 syscall nx rdtscp lm constant_tsc nonstop_tsc";
static const char flags_v2[] = " pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm";
static const char flags_v3[] = " pclmulqdq fma movbe aes xsave avx f16c abm bmi1 avx2 bmi2";

int make_cpuinfo(const struct procfs_who *who, struct bytes *out)
{
	enum cpuid_level level = cpuid_host_level();

	(void)who;
	procfs_printf(out,
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
		"model\t\t: 60\nmodel name\t: Sandglass virtual CPU @ 1.00GHz\n"
		"stepping\t: 3\nmicrocode\t: 0x1\ncpu MHz\t\t: 1000.000\n"
		"cache size\t: 8192 KB\nphysical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\n"
		"cpu cores\t: 1\napicid\t\t: 0\ninitial apicid\t: 0\nfpu\t\t: yes\n"
		"fpu_exception\t: yes\ncpuid level\t: 22\nwp\t\t: yes\n");
	procfs_printf(out, "flags\t\t: %s%s%s\n", flags_v1, level >= CPUID_V2 ? flags_v2 : "",
		level >= CPUID_V3 ? flags_v3 : "");
	procfs_printf(out, "bugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: 64\n"
			   "cache_alignment\t: 64\n"
			   "address sizes\t: 39 bits physical, 48 bits virtual\n"
			   "power management:\n\n");
	return 0;
}
#else
int make_cpuinfo(const struct procfs_who *who, struct bytes *out)
{
	(void)who;
	procfs_printf(out, "processor\t: 0\nBogoMIPS\t: 2000.00\n"
			   "Features\t: fp asimd cpuid\nCPU implementer\t: 0x41\n"
			   "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd03\n"
			   "CPU revision\t: 0\n\n");
	return 0;
}
#endif
