/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF file in memory: its segments, and the functions that .eh_frame describes. */
#ifndef SUPERVISE_HIDDEN_IMAGE_H
#define SUPERVISE_HIDDEN_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `at` and `size` are given, the rest is for image_read to find. */
struct image {
	const unsigned char *at;
	size_t size;
	const Elf64_Phdr *segments;
	unsigned segment_count;
	/* Of .eh_frame_hdr: pairs of start and record, relative to it; and the section's address.
	 */
	const unsigned char *table;
	uint64_t table_address;
	uint32_t table_count;
	/* .eh_frame itself, where there is no table: static programs. */
	const unsigned char *records;
	uint64_t records_address;
	size_t records_len;
};

/* False: it is no ELF file of 64 bits, or its segments are not in it. */
bool image_read(struct image *image);
/* The program interpreter's name, to be freed; NULL: none. */
char *image_interpreter(const struct image *image);
/* Where an address of the file's own lies in it; NULL: nowhere, or less than len bytes. */
const unsigned char *image_at(const struct image *image, uint64_t address, uint64_t len);
/* The function that an address lies in: true, its start and the address after its end. */
bool image_function(
	const struct image *image, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

#endif
