/* SPDX-License-Identifier: Apache-2.0 */
/* Every task waits for what cannot happen: who waits where, and for what. */
#ifndef SUPERVISE_DEADLOCK_H
#define SUPERVISE_DEADLOCK_H

/* Tells the host. Nothing in it comes from there: ids, addresses and names are the guest's. */
void deadlock_report(void);

#endif
