/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags of memfd_create that Linux 6.3 brought: every guest's kernel is older.
 *: out plain: Success
 *: out MFD_NOEXEC_SEAL: Invalid argument
 *: out MFD_EXEC: Invalid argument
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void try(const char *name, unsigned flags)
{
	printf("%s: %s\n", name,
		strerror(memfd_create("one", MFD_CLOEXEC | flags) < 0 ? errno : 0));
}

int main(void)
{
	try("plain", 0);
	try("MFD_NOEXEC_SEAL", 8);
	try("MFD_EXEC", 16);
	return 0;
}
