/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU that guests see where cpuid can be made to fault: one fixed model on every host. */
#ifndef SUPERVISE_ARCH_X86_64_CPUID_H
#define SUPERVISE_ARCH_X86_64_CPUID_H

#include <stdbool.h>
#include <stdint.h>

enum { CPUID_SET = 0x1012 }; /* ARCH_SET_CPUID of arch_prctl(2) */

/* Levels of the x86-64 psABI (its section "Micro-Architecture Levels"). */
enum cpuid_level {
	CPUID_V1, /* what every x86-64 CPU has */
	CPUID_V2,
	CPUID_V3, /* and AES-NI and PCLMULQDQ, which every such CPU has */
};

/* The highest level that this host's CPU and kernel offer. */
enum cpuid_level cpuid_host_level(void);
/* What cpuid answers in eax, ebx, ecx, edx for the model of a level. Unknown leaves are zeros. */
void cpuid_model_of(enum cpuid_level level, uint32_t leaf, uint32_t subleaf, uint32_t ret_out[4]);
/* The same for the host's level. */
void cpuid_model(uint32_t leaf, uint32_t subleaf, uint32_t ret_out[4]);
/* This CPU and its hypervisor can make cpuid fault, so that guests see the model. */
bool cpuid_can_fault(void);

#endif
