/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stubs that stand over the guest's vDSO (arm64). Position-independent; the first is
 * clock_gettime's and stands at its symbol. The time is data within this text: each address space
 * has a private copy and the clock moves by one write to each. The kernel itself makes the
 * instruction cache see what is written through /proc/PID/mem (copy_to_user_page).
 *
 * A counted read: the window in the counter page goes down by one; when it runs out, or while the
 * page is not mapped yet (`ready` is 0), the plain call is made, which stops at the supervisor.
 */
#include "supervise/arch/aarch64/counter.h"

#define IN_PLACE 0x8f3 /* clocks 0 1 4 5 6 7 11 */
#define REALTIME 0x821 /* clocks 0 5 11 */
#define BTI_C hint #34 /* an indirect call may come here */

/* Leaves the address of `data` in x3; goes to `plain` where the call has to be made. Uses x2, x4. */
.macro count_read plain
	adr	x3, data
	ldr	w2, [x3, #(ready - data)]
	cbz	w2, \plain
	mov	x4, #(ARCH_COUNTER_PAGE_HIGH << 32)
	ldr	w2, [x4]
	subs	w2, w2, #1
	str	w2, [x4]
	b.mi	\plain
.endm

	.section .rodata
	.balign 16
	.globl vdso_blob
	.hidden vdso_blob
vdso_blob:
clock_gettime:
	BTI_C
	cmp	w0, #11
	b.hi	1f
	mov	w2, #IN_PLACE
	lsr	w2, w2, w0
	tbz	w2, #0, 1f
	count_read 1f
	mov	w2, #REALTIME
	lsr	w2, w2, w0
	tbnz	w2, #0, 2f
	add	x3, x3, #16
2:	ldp	x2, x4, [x3]
	stp	x2, x4, [x1]
	mov	w0, #0
	ret
1:	mov	x8, #113
	svc	#0
	ret

gettimeofday:
	BTI_C
	count_read 1f
	cbz	x0, 2f
	ldr	x2, [x3]
	ldr	x4, [x3, #32]
	stp	x2, x4, [x0]
2:	cbz	x1, 3f
	str	xzr, [x1]
3:	mov	w0, #0
	ret
1:	mov	x8, #169
	svc	#0
	ret

clock_getres:
	BTI_C
	mov	x8, #114
	svc	#0
	ret

/* opaque_len ~0 asks for the state's size: say that there is none, so that libc uses the call. */
getrandom:
	BTI_C
	cmn	x4, #1
	b.eq	1f
	mov	x8, #278
	svc	#0
	ret
1:	mov	x0, #-38
	ret

gadget:
	svc	#0
	brk	#0

	.balign 8
data:	.quad	0, 0, 0, 0, 0, 0
ready:	.word	0
	.balign 4
vdso_blob_end:

	.balign 8
	.globl vdso_blob_offsets
	.hidden vdso_blob_offsets
vdso_blob_offsets: /* in the order that vdso_blob.c reads them */
	.quad	vdso_blob_end - vdso_blob
	.quad	data - vdso_blob
	.quad	ready - vdso_blob
	.quad	gadget - vdso_blob
	.quad	clock_gettime - vdso_blob
	.quad	gettimeofday - vdso_blob
	.quad	clock_getres - vdso_blob
	.quad	getrandom - vdso_blob

	.section .note.GNU-stack, "", @progbits
