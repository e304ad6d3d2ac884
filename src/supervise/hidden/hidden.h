/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions whose result is the host's and that nothing makes trap: RDRAND, RDSEED, RDPID,
 * XBEGIN; on arm64 RNDR.
 *
 * Code is searched for them when it becomes executable. Where it is sure that the bytes are such an
 * instruction (files.h says when), a breakpoint takes its place in the process's private copy, and
 * the supervisor answers: random numbers from the process's stream, CPU 0, a transaction that
 * aborts. What only may be one is left as it is and told as an assumption, file and offset; and so
 * is code that the guest makes while it runs.
 */
#ifndef SUPERVISE_HIDDEN_H
#define SUPERVISE_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "supervise/engine/task.h"
#include "supervise/hidden/files.h"

/* What a new program is made of; NULL: none, or it cannot be read. */
struct hidden_programs {
	struct hidden_file *program, *loader;
	uint64_t dev, ino; /* the program's */
};
void hidden_look_up(const struct task *t, struct hidden_programs *ret);
/* A new program is in place: its own segments and its loader's. */
void hidden_exec(struct task *t, const struct hidden_programs *p);
/* t is about to map this descriptor executable: false when nothing in the file has to be looked at.
 */
bool hidden_file_matters(int fd);
/* These addresses of t's are executable now. */
void hidden_mapped(struct task *t, uint64_t addr, uint64_t len);
/* Memory that is writable and executable at once came up. */
void hidden_made_at_run_time(void);
/* t stands at a breakpoint trap: true if it was ours, and regs are those after the instruction. */
bool hidden_trap(struct task *t, struct regs *regs);
/* What a new address space inherits, and what one that goes away leaves. */
struct hidden_sites *hidden_copy(const struct hidden_sites *sites);
void hidden_free(struct hidden_sites *sites);

#endif
