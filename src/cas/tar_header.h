/* SPDX-License-Identifier: Apache-2.0 */
/* A ustar header block (POSIX.1-2017, pax, "ustar Interchange Format"): text alone, no integers. */
#ifndef CAS_TAR_HEADER_H
#define CAS_TAR_HEADER_H

enum { TAR_NAME = 100, TAR_PREFIX = 155 };

#define TAR_PAX_NAME "././@PaxHeader"
#define TAR_XATTR "SCHILY.xattr."
#define TAR_LIST_OWNER "sandglass"

struct tar_header {
	char name[TAR_NAME];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char link[TAR_NAME];
	char magic[6], version[2];
	char owner[32], group[32];
	char major[8], minor[8];
	char prefix[TAR_PREFIX];
	char unused[12];
};
_Static_assert(sizeof(struct tar_header) == 512, "one block");

#endif
