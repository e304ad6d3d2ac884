/* SPDX-License-Identifier: Apache-2.0 */
/* The sources that the bench compiles: see project.h. */
#include "project.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>

enum { FILES = 50, STEPS = 20 };

static FILE *create(const char *dir, const char *name)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	if (!f)
		err(2, "%s", path);
	return f;
}

static void finish(FILE *f)
{
	if (fclose(f) != 0)
		err(2, "write a source");
}

/* 2,000 lines: 250 functions of eight lines, no two alike. */
static void write_functions(const char *dir)
{
	FILE *f = create(dir, "generated.c");

	for (int i = 0; i < 250; i++)
		fprintf(f,
			"int work%d(int *values, int count)\n{\n\tint sum = %d;\n"
			"\tfor (int i = 0; i < count; i++)\n"
			"\t\tsum = sum * %d + (values[i] ^ (sum >> %d));\n"
			"\tvalues[0] = sum;\n\treturn sum > %d ? sum : -sum;\n}\n",
			i, i * 7, i % 31 + 2, i % 13 + 1, i * 1000);
	finish(f);
}

/* A file of 170 lines with the usual headers; it calls the one before it. */
static void write_part(const char *dir, int i)
{
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "part%d.c", i);
	f = create(dir, name);
	fprintf(f, "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
		   "#include \"parts.h\"\n\n");
	for (int k = 0; k < STEPS; k++)
		fprintf(f,
			"static int step%d(const char *text, int seed)\n{\n\tint sum = seed;\n"
			"\tfor (size_t i = 0; i < strlen(text); i++)\n"
			"\t\tsum = sum * %d + text[i];\n\treturn sum;\n}\n\n",
			k, i + k + 3);
	fprintf(f,
		"int part%d(int seed)\n{\n\tchar text[32];\n"
		"\tsnprintf(text, sizeof(text), \"%%d\", seed);\n\treturn ",
		i);
	for (int k = 0; k < STEPS; k++)
		fprintf(f, "step%d(text, ", k);
	if (i > 0)
		fprintf(f, "part%d(seed)", i - 1);
	else
		fprintf(f, "seed");
	for (int k = 0; k < STEPS; k++)
		fprintf(f, ")");
	fprintf(f, ";\n}\n");
	finish(f);
}

static void write_makefile(const char *dir)
{
	FILE *f = create(dir, "Makefile");

	fprintf(f, "OBJECTS := $(patsubst part%%.c,$(OUT)/part%%.o,$(wildcard part*.c))\n"
		   "$(OUT)/program: $(OUT)/main.o $(OBJECTS)\n\tgcc -o $@ $^\n"
		   "$(OUT)/%%.o: %%.c parts.h\n\tgcc -O2 -c -o $@ $<\n");
	finish(f);
}

void project_generate(const char *dir)
{
	FILE *header, *program;

	write_functions(dir);
	write_makefile(dir);
	header = create(dir, "parts.h");
	for (int i = 0; i < FILES - 1; i++) {
		fprintf(header, "int part%d(int seed);\n", i);
		write_part(dir, i);
	}
	finish(header);
	program = create(dir, "main.c");
	fprintf(program, "#include \"parts.h\"\n\nint main(void)\n{\n\treturn part%d(1) == 0;\n}\n",
		FILES - 2);
	finish(program);
}
