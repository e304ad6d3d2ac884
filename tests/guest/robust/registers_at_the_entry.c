/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A later program of a run starts as the kernel leaves it - every register 0, no trace below the
 * stack - although the kernel's pages of time, which lie below the vDSO, are gone before its first
 * instruction. Natively those can be read.
 *: pinned
 *: out registers 0, flags 0x202, below the stack 0, pages of time 0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { REGISTERS = 14, BELOW = 14, FLAGS, SLOTS, PAGE = 4096, PAGES = 16 };

/* Filled before any other instruction of the program has run. */
uint64_t entry_slots[SLOTS];

#if defined(__x86_64__)
#define SAVE(reg, slot) "	mov %" #reg ", entry_slots+8*" #slot "(%rip)\n"
__asm__("	.globl entry_first\n"
	"entry_first:\n" SAVE(rax, 0) SAVE(rbx, 1) SAVE(rcx, 2) SAVE(rdx, 3) SAVE(rsi, 4) SAVE(
		rdi, 5) SAVE(rbp, 6) SAVE(r8, 7) SAVE(r9, 8) SAVE(r10, 9) SAVE(r11, 10)
		SAVE(r12, 11) SAVE(r13, 12) SAVE(r14, 13) "	mov	-8(%rsp), %rax\n" SAVE(
			rax, 14) "	pushf\n"
				 "	pop	entry_slots+8*15(%rip)\n"
				 "	mov	$0, %eax\n"
				 "	jmp	_start\n");
#else
__asm__("	.globl entry_first\n"
	"entry_first:\n"
	"	b	_start\n");
#endif

static int pages_of_time(void)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	int ends[2], readable = 0;

	for (int i = 1; i <= PAGES; i++) {
		if (pipe(ends) != 0)
			return -1;
		readable +=
			write(ends[1], (const void *)(vdso - (uintptr_t)i * PAGE), PAGE) == PAGE;
		close(ends[0]);
		close(ends[1]);
	}
	return readable;
}

int main(int argc, char **argv)
{
	char word[] = "again", *again[] = {argv[0], word, NULL};
	uint64_t any = 0;

	if (argc == 1) {
		execv("/proc/self/exe", again);
		return 1;
	}
	for (int i = 0; i < REGISTERS; i++)
		any |= entry_slots[i];
	printf("registers %lx, flags %#lx, below the stack %lx, pages of time %d\n",
		(unsigned long)any, (unsigned long)entry_slots[FLAGS],
		(unsigned long)entry_slots[BELOW], pages_of_time());
	return 0;
}
