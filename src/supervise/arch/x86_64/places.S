/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpuid from a table (x86-64): position-independent, copied into the guest's vDSO with the table
 * right behind it (places.c). Called with the stack pointer 128 bytes down, past what a leaf
 * function keeps there, and puts it back itself. Like cpuid it changes no flag and no register but
 * its four, and clears their upper halves.
 *
 * An entry is leaf, subleaf, eax, ebx, ecx, edx. Subleaf ~0 is any; leaf ~0 ends the table, and then
 * the instruction itself answers.
 */
	.section .rodata
	.balign 16
	.globl places_cpuid
	.hidden places_cpuid
places_cpuid:
	push	%rdi
	push	%rsi
	mov	%eax, %esi
	lahf
	seto	%al
	mov	%eax, %edi
	lea	places_cpuid_end(%rip), %rbx
1:	cmp	%esi, (%rbx)
	jne	2f
	cmpl	$-1, 4(%rbx)
	je	4f
	cmp	%ecx, 4(%rbx)
	je	4f
2:	add	$24, %rbx
	cmpl	$-1, (%rbx)
	jne	1b
	mov	%edi, %eax
	add	$127, %al
	sahf
	mov	%esi, %eax
	cpuid
3:	pop	%rsi
	pop	%rdi
	ret	$128
4:	mov	%edi, %eax
	add	$127, %al
	sahf
	mov	8(%rbx), %eax
	mov	16(%rbx), %ecx
	mov	20(%rbx), %edx
	mov	12(%rbx), %ebx
	jmp	3b
places_cpuid_end:

	.balign 8
	.globl places_cpuid_size
	.hidden places_cpuid_size
places_cpuid_size: .quad places_cpuid_end - places_cpuid

	.section .note.GNU-stack, "", @progbits
