/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that the contract shares with the host for writing: what the guest changes there is
 * told. */
#ifndef SUPERVISE_SHARED_H
#define SUPERVISE_SHARED_H

/* The guest changes this file, or what is in this directory: reported when it is a shared one. */
void shared_check(int fd);

#endif
