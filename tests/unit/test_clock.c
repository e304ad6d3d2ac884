/* SPDX-License-Identifier: Apache-2.0 */
/* The logical clock and its timers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "supervise/engine/clock.h"
#include "supervise/main.h"

enum { TIMERS = 200 };

static const struct contract contract;
static int fired[TIMERS], fired_count;

const struct contract *contract_get(void)
{
	return &contract;
}

static void note(struct timer *t)
{
	fired[fired_count++] = *(const int *)t->owner;
}

static void again(struct timer *t)
{
	note(t);
	if (fired_count < 5)
		timer_arm(t, t->deadline_ns + 10, again, t->owner);
}

static int fresh(void **state)
{
	(void)state;
	fired_count = 0;
	clock_init(1700000000000000000, 1000, 0);
	return 0;
}

static void realtime_belongs_to_monotonic(void **state)
{
	(void)state;
	assert_int_equal(clock_monotonic(), 1000);
	assert_int_equal(clock_realtime(), 1700000000000000000);
	clock_advance(5000);
	assert_int_equal(clock_realtime(), 1700000000000004000);
	assert_int_equal(clock_from_realtime(clock_to_realtime(7777)), 7777);
	assert_int_equal(clock_from_realtime(5), 0);
}

static void the_clock_never_goes_back(void **state)
{
	(void)state;
	clock_advance(9000);
	clock_advance(4000);
	assert_int_equal(clock_monotonic(), 9000);
}

static void timers_fire_by_deadline_then_by_arming(void **state)
{
	static struct timer timers[TIMERS];
	static int names[TIMERS];
	uint32_t seed = 12345;

	(void)state;
	for (int i = 0; i < TIMERS; i++) {
		seed = seed * 1103515245 + 12345;
		names[i] = i;
		timer_arm(&timers[i], 2000 + (seed >> 16) % 20, note, &names[i]);
	}
	clock_advance(1999);
	assert_int_equal(fired_count, 0);
	clock_advance(3000);
	assert_int_equal(fired_count, TIMERS);
	for (int i = 1; i < TIMERS; i++) {
		const struct timer *a = &timers[fired[i - 1]], *b = &timers[fired[i]];

		assert_true(a->deadline_ns < b->deadline_ns ||
			    (a->deadline_ns == b->deadline_ns && fired[i - 1] < fired[i]));
	}
}

static void a_disarmed_timer_stays_silent(void **state)
{
	static struct timer timers[TIMERS];
	static int names[TIMERS];
	uint64_t due;

	(void)state;
	for (int i = 0; i < TIMERS; i++) {
		names[i] = i;
		timer_arm(&timers[i], 2000 + (uint64_t)(i * 7 % 31), note, &names[i]);
	}
	for (int i = 0; i < TIMERS; i += 2)
		timer_disarm(&timers[i]);
	timer_disarm(&timers[0]);
	clock_advance(5000);
	assert_int_equal(fired_count, TIMERS / 2);
	for (int i = 0; i < fired_count; i++)
		assert_int_equal(fired[i] % 2, 1);
	assert_int_equal(timer_next(&due), 0);
}

static void a_timer_may_arm_itself_while_it_fires(void **state)
{
	static struct timer t;
	static int name = 3;

	(void)state;
	timer_arm(&t, 1010, again, &name);
	clock_advance(1030);
	assert_int_equal(fired_count, 3);
	assert_true(timer_is_armed(&t));
	clock_advance(2000);
	assert_int_equal(fired_count, 5);
	assert_false(timer_is_armed(&t));
}

static void passive_timers_fire_in_order_but_wake_nobody(void **state)
{
	static struct timer timers[4];
	static int names[4] = {0, 1, 2, 3};
	uint64_t due;

	(void)state;
	timer_arm_passive(&timers[0], 1030, note, &names[0]);
	timer_arm_passive(&timers[1], 1010, note, &names[1]);
	assert_int_equal(timer_next_waking(&due), 0);
	timer_arm(&timers[2], 1020, note, &names[2]);
	timer_arm_passive(&timers[3], 1040, note, &names[3]);
	assert_int_equal(timer_next(&due), 1);
	assert_int_equal(due, 1010);
	assert_int_equal(timer_next_waking(&due), 1);
	assert_int_equal(due, 1020);
	/* From one heap to the other. */
	timer_arm(&timers[3], 1005, note, &names[3]);
	clock_advance(2000);
	assert_int_equal(fired_count, 4);
	assert_int_equal(fired[0], 3);
	assert_int_equal(fired[1], 1);
	assert_int_equal(fired[2], 2);
	assert_int_equal(fired[3], 0);
	assert_int_equal(timer_next(&due), 0);
}

static void a_time_before_the_clock_began_is_negative(void **state)
{
	(void)state;
	assert_true(clock_before_start(1700000000000000000 - 1001) == -1);
	assert_true(clock_before_start(1700000000000000000) == 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(realtime_belongs_to_monotonic, fresh),
		cmocka_unit_test_setup(the_clock_never_goes_back, fresh),
		cmocka_unit_test_setup(timers_fire_by_deadline_then_by_arming, fresh),
		cmocka_unit_test_setup(a_disarmed_timer_stays_silent, fresh),
		cmocka_unit_test_setup(a_timer_may_arm_itself_while_it_fires, fresh),
		cmocka_unit_test_setup(passive_timers_fire_in_order_but_wake_nobody, fresh),
		cmocka_unit_test_setup(a_time_before_the_clock_began_is_negative, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
