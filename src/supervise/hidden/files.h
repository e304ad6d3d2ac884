/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hidden instructions of a file. One is sure when it lies in a function that .eh_frame describes
 * and decoding from that function's start arrives at it; what decoding passes over is none; of the
 * rest it cannot be told whether it is code.
 */
#ifndef SUPERVISE_HIDDEN_FILES_H
#define SUPERVISE_HIDDEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervise/arch.h"

struct hidden_site {
	uint64_t at; /* offset in the file, or address */
	uint8_t len;
	unsigned char code[ARCH_INSN_MAX];
};

struct hidden_file {
	uint64_t dev, ino, size, mtime_ns;
	uint64_t ctime_ns; /* when it was last looked at */
	unsigned count;
	struct hidden_site *sites; /* by offset */
	unsigned unsure;	   /* how many it cannot tell of */
	uint64_t unsure_at;	   /* the first one's offset */
	bool told;
	char *interpreter; /* NULL: none */
	char *name;	   /* by hidden_file_at */
	unsigned loads;	   /* inplace.h: programs that it started as their loader */
	struct inplace *inplace;
};

/* Searched once a file, as long as it is not changed. Borrowed; NULL: it cannot be read. */
struct hidden_file *hidden_file_get(int fd);
/* The same by name, which costs one call where the file is known; and its state. */
struct stat;
struct hidden_file *hidden_file_at(const char *name, struct stat *ret_st);

#endif
