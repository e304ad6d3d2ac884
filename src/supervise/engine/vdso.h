/* SPDX-License-Identifier: Apache-2.0 */
/* Our stubs over the guest's vDSO: they answer clock reads in place, from logical time. */
#ifndef SUPERVISE_VDSO_H
#define SUPERVISE_VDSO_H

#include "base/attr.h"
#include "base/error.h"
#include "supervise/engine/task.h"

/* Reads the kernel's vDSO (ours is the guests' too) and prepares the patch. */
MUST_CHECK int vdso_init(struct error *err);
/* The functions that the stubs replace: the i-th one's name, and where it is in the vDSO (0: this
 * kernel's has none). False past the last. */
bool vdso_symbol(size_t i, const char **ret_name, uint64_t *ret_at);
/* After exec: writes the stubs with the present time into mm, whose vdso address is set. `entry` is
 * the program's first instruction, for vdso_start. */
MUST_CHECK int vdso_patch(struct mm *mm, uint64_t entry, struct error *err);
/*
 * Room for more code of ours: the bodies of functions that are replaced, and the rest of the last
 * page. Offsets in the vDSO; what is written at vdso_text is in all programs that are patched from
 * then on.
 */
enum { VDSO_ROOMS = 8 };
struct vdso_room {
	uint64_t at, len;
};
size_t vdso_rooms(const struct vdso_room **ret);
unsigned char *vdso_text(uint64_t at);
/* Offset in the vDSO of the time-stamp counter, 8 bytes that move with the clock. */
uint64_t vdso_counter(void);
/* Where a new program may begin instead: it unmaps the pages of vdso_data itself and goes to its
 * entry. 0: this architecture has no such code, or it is not there. */
uint64_t vdso_start(const struct mm *mm);
/* Where mm has the kernel's own pages of time, and their length, which is 0 where there are none.
 */
uint64_t vdso_data(const struct mm *mm, uint64_t *ret_len);
/* Address of a system call instruction in mm that nothing else runs; 0 when the stubs are not
 * there. */
uint64_t vdso_gadget(const struct mm *mm);
/* The counter page of mm is mapped: reads are answered in place from now on. */
void vdso_set_ready(struct mm *mm);
/* The clock moved: every patched address space gets the new time. */
void vdso_set_time(void);

#endif
