/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insns: for each line of hexadecimal bytes on standard input, what the decoder says of the
 * instruction at its start: its length, and o (opaque), or s, l or both or - (stores, loads). An
 * invalid one is 0.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervise/arch/x86_64/decode.h"

static size_t read_bytes(const char *line, unsigned char *ret, size_t room)
{
	size_t len = 0;
	unsigned byte;
	int n;

	while (len < room && sscanf(line, " %2x%n", &byte, &n) == 1) {
		ret[len++] = (unsigned char)byte;
		line += n;
	}
	return len;
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		unsigned char code[32];
		struct insn insn;
		struct regs regs = {0};
		struct arch_access accesses[ARCH_ACCESSES];
		bool stores = false, loads = false;
		int count;

		if (!insn_decode(code, read_bytes(line, code, sizeof(code)), &insn)) {
			printf("0\n");
			continue;
		}
		count = insn_accesses(&insn, &regs, accesses);
		for (int i = 0; i < count; i++)
			if (accesses[i].store)
				stores = true;
			else
				loads = true;
		printf("%u %s%s%s\n", insn.length, count < 0 ? "o" : "", stores ? "s" : "",
			loads ? "l" : "");
	}
	return 0;
}
