/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual inode numbers: by first sight, one a file, a new one for a new file behind an old pair.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "supervise/files/inode.h"

static struct statx file(uint64_t ino, int64_t born)
{
	struct statx stx;

	memset(&stx, 0, sizeof(stx));
	stx.stx_mask = STATX_INO | STATX_BTIME;
	stx.stx_ino = ino;
	stx.stx_dev_major = 7;
	stx.stx_dev_minor = 3;
	stx.stx_btime.tv_sec = born;
	return stx;
}

static void numbers_follow_first_sight(void **state)
{
	struct statx a = file(500001, 1), b = file(17, 1), elsewhere = file(17, 1);
	uint32_t first = 0;

	(void)state;
	elsewhere.stx_dev_minor = 4;
	first = inode_get(&a)->number;
	assert_int_equal(inode_get(&b)->number, first + 1);
	assert_int_equal(inode_get(&elsewhere)->number, first + 2);
	assert_int_equal(inode_get(&a)->number, first);
	assert_int_equal(inode_get_pair(7, 3, 17)->number, first + 1);
}

static void another_birth_is_another_file(void **state)
{
	struct statx old = file(42, 10), new = file(42, 11);
	uint32_t number = inode_get(&old)->number;

	(void)state;
	assert_null(inode_find(&new));
	assert_int_not_equal(inode_get(&new)->number, number);
}

static void a_created_file_is_new_even_with_the_same_birth(void **state)
{
	struct statx stx = file(43, 10);
	uint32_t number = inode_get(&stx)->number;

	(void)state;
	assert_int_not_equal(inode_create(&stx)->number, number);
	assert_int_equal(inode_get(&stx)->number, number + 1);
}

static void a_copy_on_writing_keeps_the_number(void **state)
{
	struct statx lower = file(44, 10), upper = file(44, 99);
	uint32_t number = inode_get(&lower)->number;

	(void)state;
	inode_moved(&lower, &upper);
	assert_int_equal(inode_get(&upper)->number, number);
}

static void many_files_stay_apart(void **state)
{
	struct statx stx;
	uint32_t base = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		stx = file(1000000 + i * 4096, 5);
		if (i == 0)
			base = inode_get(&stx)->number;
		assert_int_equal(inode_get(&stx)->number, base + i);
	}
	for (uint64_t i = 0; i < 100000; i++) {
		stx = file(1000000 + i * 4096, 5);
		assert_int_equal(inode_find(&stx)->number, base + i);
	}
}

static void files_that_are_gone_are_forgotten_at_last(void **state)
{
	struct statx stx = file(77, 1), other;
	uint32_t number = inode_get(&stx)->number;

	(void)state;
	assert_int_equal(inode_gone(&stx), 0);
	assert_int_equal(inode_get(&stx)->number, number);
	for (uint64_t i = 0; i < 10000; i++) {
		other = file(900000000 + i, 5);
		(void)inode_get(&other);
		assert_int_equal(inode_gone(&other), 0);
	}
	assert_null(inode_find(&stx));
	/* Nobody else was lost on the way. */
	for (uint64_t i = 0; i < 100000; i += 7) {
		other = file(1000000 + i * 4096, 5);
		assert_non_null(inode_find(&other));
	}
}

static void paths_are_numbered_by_their_text(void **state)
{
	(void)state;
	assert_true(inode_of_path("/proc/64/stat") == inode_of_path("/proc/64/stat"));
	assert_false(inode_of_path("/proc/64/stat") == inode_of_path("/proc/64/statm"));
	assert_true(inode_of_path("/proc") > UINT32_MAX);
}

enum { ENDLESS = 9 << 20, KEPT = 77 };

static bool is_endless(uint32_t dev)
{
	return dev == ENDLESS;
}

static bool is_gone(uint32_t dev, uint64_t ino)
{
	return dev == ENDLESS && ino != KEPT;
}

static void sweep(void)
{
	inode_forget(is_gone);
}

static void endless_numbers_are_given_up(void **state)
{
	struct statx other = file(90000, 1), first = file(100000, 0), kept = file(KEPT, 0);
	uint32_t of_other = inode_get(&other)->number, of_kept = 0;

	(void)state;
	inode_sweep_by(is_endless, sweep);
	first.stx_dev_major = kept.stx_dev_major = 9;
	first.stx_dev_minor = kept.stx_dev_minor = 0;
	of_kept = inode_get(&kept)->number;
	(void)inode_get(&first);
	for (uint64_t ino = 100001; ino < 100000 + INODE_SWEEP - 1; ino++) {
		assert_non_null(inode_find(&first));
		(void)inode_get_pair(9, 0, ino);
	}
	assert_null(inode_find(&first));
	assert_int_equal(inode_get(&kept)->number, of_kept);
	assert_int_equal(inode_get(&other)->number, of_other);
	inode_sweep_by(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_follow_first_sight),
		cmocka_unit_test(another_birth_is_another_file),
		cmocka_unit_test(a_created_file_is_new_even_with_the_same_birth),
		cmocka_unit_test(a_copy_on_writing_keeps_the_number),
		cmocka_unit_test(many_files_stay_apart),
		cmocka_unit_test(files_that_are_gone_are_forgotten_at_last),
		cmocka_unit_test(endless_numbers_are_given_up),
		cmocka_unit_test(paths_are_numbered_by_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
