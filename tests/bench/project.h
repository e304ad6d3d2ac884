/* SPDX-License-Identifier: Apache-2.0 */
/* The sources that the bench compiles. */
#ifndef BENCH_PROJECT_H
#define BENCH_PROJECT_H

/*
 * Writes into a directory generated.c, of 2,000 lines, and a project of 50 files with its Makefile,
 * which puts what it makes into $(OUT).
 */
void project_generate(const char *dir);

#endif
