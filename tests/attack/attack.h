/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the attacks share: a verdict with its reason, and what the harness planted on the host.
 * An attack says CONTAINED, ESCAPED, or JUDGED when only the harness can tell by what is left
 * outside; it never harms the machine that it would escape to.
 */
#ifndef ATTACK_ATTACK_H
#define ATTACK_ATTACK_H

#include <sys/types.h>

enum verdict { CONTAINED, ESCAPED, JUDGED };

/* On the host side, given as NAME=VALUE arguments; defaults are empty. */
struct canary {
	const char *secret;  /* a file that only the host has */
	const char *mark;    /* content of the secret, of the key, of the environment variable */
	const char *process; /* a word of a host process's command line, in two halves: A+B */
	const char *cmdline; /* the host kernel's command line */
	const char *host;    /* the host's name */
	const char *socket;  /* a unix socket's path on the host */
	const char *bind;    /* a directory shared with the host */
	pid_t pid;	     /* the host process */
	unsigned long mib;   /* how much the memory bombs take */
};
extern struct canary canary;

/* The fixed places of the other canaries: run.py has the same. */
#define CANARY_PORT 47811
#define CANARY_SHM_KEY 0x5b0c
#define CANARY_ABSTRACT "sandglass-canary"
#define CANARY_DEV_SHM "/dev/shm/sandglass-canary"
#define CANARY_KEY "sandglass:canary"
#define CANARY_VARIABLE "SANDGLASS_CANARY"

__attribute__((format(printf, 1, 2))) enum verdict contained(const char *format, ...);
__attribute__((format(printf, 1, 2))) enum verdict escaped(const char *format, ...);
__attribute__((format(printf, 1, 2))) enum verdict judged(const char *format, ...);

/* result as a system call's: not negative means that it worked, and so escaped. */
enum verdict refused(const char *what, long result);
/* Escaped when the file can be opened with these flags; nothing is read or written. */
enum verdict refused_open(const char *const *paths, int flags);
/* 1 when the file (any kind that can be read) holds the text, 0 when not, -1 when unreadable. */
int file_holds(const char *path, const char *text);
/* Runs f in a child: its verdict, or CONTAINED when a signal ended it. */
enum verdict in_child(enum verdict (*f)(void));

#define X(family, name) enum verdict family##_##name(void);
#include "attacks.def"
#undef X

#endif
