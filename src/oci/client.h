/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime's command line client as a process: no input, its output kept, and killed when we die.
 * It is in a session of its own, so that keys typed at our terminal are ours.
 */
#ifndef OCI_CLIENT_H
#define OCI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/error.h"

struct client {
	pid_t pid;    /* 0: reaped, or none */
	int pidfd;    /* readable when it has ended; -1: none */
	int out, err; /* temporary files with its standard output and error */
	int status;   /* once reaped, as waitpid gives it */
};

#define CLIENT_NONE ((struct client){.pidfd = -1, .out = -1, .err = -1})

MUST_CHECK int client_start(struct client *ret, char *const *argv, struct error *err);
/* 1 when it has ended and is reaped, 0 when it goes on after so many milliseconds. */
MUST_CHECK int client_wait(struct client *c, int timeout_ms, struct error *err);
/* Kills it if need be. */
void client_finish(struct client *c);
#define auto_client CLEANUP(client_finish)

/* What it wrote so far, at most 16 MiB of it (caller frees). */
MUST_CHECK int client_text(int fd, char **ret, struct error *err);
/* The line of its standard error that says what was wrong, made printable (caller frees). */
char *client_complaint(const struct client *c);

/* Runs it to its end: its standard output (caller frees), or its complaint as an error. A client
 * that does not answer within a minute is an error. */
MUST_CHECK int client_ask(char *const *argv, char **ret_out, struct error *err);

#endif
