/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes, sockets and memory files, which have no name and come and go without end: the inode
 * numbers of those that nobody has any more are given up now and then.
 */
#ifndef SUPERVISE_NAMELESS_H
#define SUPERVISE_NAMELESS_H

/* Once, before the guest starts. */
void nameless_init(void);

#endif
