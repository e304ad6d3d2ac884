/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that are removed, by us or by whoever outlives us. */
#ifndef OCI_REMOVAL_H
#define OCI_REMOVAL_H

#include "oci/words.h"

struct removal {
	const struct words *command;
	void (*last)(const void *arg); /* what else is to be done then; NULL: nothing */
	const void *arg;
};

/* Runs the command to its end, silently, whatever that is. */
void removal_run(char *const *argv);
/*
 * The work of a janitor (base/janitor.h) whose argument is a struct removal. A client that was
 * killed with us may have asked for the container already, and the daemon makes it only then: so
 * the command is run for a while, whatever it answers.
 */
void removal_persist(const void *removal);

#endif
