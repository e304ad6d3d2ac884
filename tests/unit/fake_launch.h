/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the container: init is a forked child of the test that plays the supervisor. */
#ifndef TESTS_FAKE_LAUNCH_H
#define TESTS_FAKE_LAUNCH_H

/* What the child does; the control socket is 3, the guest's streams are 0, 1, 2. It exits with 0.
 */
extern void (*fake_supervisor)(void);

#endif
