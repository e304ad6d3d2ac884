/* SPDX-License-Identifier: Apache-2.0 */
/* ARCH_COUNTER_PAGE as the assembler wants it. */
#ifndef SUPERVISE_ARCH_X86_64_COUNTER_H
#define SUPERVISE_ARCH_X86_64_COUNTER_H

#define ARCH_COUNTER_PAGE_ASM 0x200000000000

#endif
