/* SPDX-License-Identifier: Apache-2.0 */
/* Run by the build: writes the deny filter as C to standard output. */
#include <stdio.h>

#include "base/mem.h"
#include "launch/deny.h"

int main(void)
{
	autofree struct contract_filter_insn *filter = NULL;
	struct error err;
	size_t len;

	if (deny_build(&filter, &len, &err) < 0) {
		fprintf(stderr, "deny_make: %s\n", err.msg);
		return 1;
	}
	printf("#include \"launch/deny.h\"\n\nconst struct contract_filter_insn deny_filter[] = "
	       "{\n");
	for (size_t i = 0; i < len; i++)
		printf("\t{%u, %u, %u, %uu},\n", (unsigned)filter[i].code, (unsigned)filter[i].jt,
			(unsigned)filter[i].jf, (unsigned)filter[i].k);
	printf("};\nconst size_t deny_filter_len = %zu;\n", len);
	return ferror(stdout) || fflush(stdout) != 0;
}
