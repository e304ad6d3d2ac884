/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stubs that stand over the guest's vDSO (x86-64). Position-independent; the first is
 * clock_gettime's and stands at its symbol. The time is data within this text: each address space
 * has a private copy and the clock moves by one write to each.
 *
 * A counted read: the window in the counter page goes down by one; when it runs out, or while the
 * page is not mapped yet (`ready` is 0), the plain call is made, which stops at the supervisor.
 */
#include "supervise/arch/x86_64/counter.h"

#define IN_PLACE 0x8f3 /* clocks 0 1 4 5 6 7 11 */
#define REALTIME 0x821 /* clocks 0 5 11 */

	.section .rodata
	.balign 16
	.globl vdso_blob
	.hidden vdso_blob
vdso_blob:
clock_gettime:
	cmp	$11, %edi
	ja	1f
	mov	$IN_PLACE, %eax
	bt	%edi, %eax
	jnc	1f
	cmpl	$0, ready(%rip)
	je	1f
	movabs	$ARCH_COUNTER_PAGE_ASM, %rdx
	decl	(%rdx)
	js	1f
	lea	data(%rip), %rdx
	mov	$REALTIME, %eax
	bt	%edi, %eax
	jc	2f
	add	$16, %rdx
2:	mov	(%rdx), %rax
	mov	%rax, (%rsi)
	mov	8(%rdx), %rax
	mov	%rax, 8(%rsi)
	xor	%eax, %eax
	ret
1:	mov	$228, %eax
	syscall
	ret

gettimeofday:
	cmpl	$0, ready(%rip)
	je	1f
	movabs	$ARCH_COUNTER_PAGE_ASM, %rdx
	decl	(%rdx)
	js	1f
	test	%rdi, %rdi
	je	2f
	mov	data(%rip), %rax
	mov	%rax, (%rdi)
	mov	data+32(%rip), %rax
	mov	%rax, 8(%rdi)
2:	test	%rsi, %rsi
	je	3f
	movq	$0, (%rsi)
3:	xor	%eax, %eax
	ret
1:	mov	$96, %eax
	syscall
	ret

time:
	cmpl	$0, ready(%rip)
	je	1f
	movabs	$ARCH_COUNTER_PAGE_ASM, %rdx
	decl	(%rdx)
	js	1f
	mov	data(%rip), %rax
	test	%rdi, %rdi
	je	2f
	mov	%rax, (%rdi)
2:	ret
1:	mov	$201, %eax
	syscall
	ret

clock_getres:
	mov	$229, %eax
	syscall
	ret

getcpu:
	xor	%eax, %eax
	test	%rdi, %rdi
	je	1f
	mov	%eax, (%rdi)
1:	test	%rsi, %rsi
	je	2f
	mov	%eax, (%rsi)
2:	ret

/* opaque_len ~0 asks for the state's size: say that there is none, so that libc uses the call. */
getrandom:
	cmp	$-1, %r8
	je	1f
	mov	$318, %eax
	syscall
	ret
1:	mov	$-38, %rax
	ret

gadget:
	syscall
	int3

/*
 * What a new program runs before its first instruction: it gives up the kernel's pages of time, and
 * goes on as exec left it, every register 0. Flags are not touched. Should munmap fail, a number
 * that nobody decided tells the supervisor.
 */
start:
	mov	start_data(%rip), %rdi
	mov	start_data+8(%rip), %rsi
	mov	$11, %eax
	syscall
	mov	%rax, %rcx
	jrcxz	1f
	mov	$511, %eax
	syscall
	mov	$0, %eax
	mov	$0, %ecx
1:	mov	$0, %edi
	mov	$0, %esi
	mov	$0, %r11d
	jmp	*start_data+16(%rip)

	.balign 8
data:	.quad	0, 0, 0, 0, 0, 0
start_data: .quad 0, 0, 0 /* address and length of those pages, the program's entry */
ready:	.long	0
vdso_blob_end:

	.section .rodata
	.balign 8
	.globl vdso_blob_offsets
	.hidden vdso_blob_offsets
vdso_blob_offsets: /* in the order of enum in vdso.c of this folder */
	.quad	vdso_blob_end - vdso_blob
	.quad	data - vdso_blob
	.quad	ready - vdso_blob
	.quad	gadget - vdso_blob
	.quad	start - vdso_blob
	.quad	start_data - vdso_blob
	.quad	clock_gettime - vdso_blob
	.quad	gettimeofday - vdso_blob
	.quad	time - vdso_blob
	.quad	clock_getres - vdso_blob
	.quad	getcpu - vdso_blob
	.quad	getrandom - vdso_blob

	.section .note.GNU-stack, "", @progbits
