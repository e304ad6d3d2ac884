/* SPDX-License-Identifier: Apache-2.0 */
/* What all runtimes have in common: see runtime.h. */
#include "replicate/runtime.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

static const char *const words[SETTINGS] = {
#define X(name, word, meaning) word,
#include "replicate/setting.def"
#undef X
};

const char *setting_word(enum setting s)
{
	return words[s];
}

void isolation_finish(struct isolation *i)
{
	for (int s = 0; s < SETTINGS; s++)
		free(i->degraded[s]);
	*i = (struct isolation){0};
}

void isolation_degrade(struct isolation *i, enum setting s, const char *fmt, ...)
{
	va_list ap;

	if (i->degraded[s])
		return;
	va_start(ap, fmt);
	if (vasprintf(&i->degraded[s], fmt, ap) < 0)
		abort();
	va_end(ap);
}

void execution_finish(struct execution *e)
{
	json_decref(e->reasons);
	fd_close(&e->output);
	*e = (struct execution){.output = -1};
}

static const struct runtime *const runtimes[] = {
	&runtime_native, &runtime_docker, &runtime_podman, &runtime_nerdctl, &runtime_runsc};

int runtime_find(const char *name, const struct runtime **ret, struct error *err)
{
	autofree char *list = mem_strdup(""), *safe = NULL;

	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++) {
		char *longer = str_format("%s%s%s", list, i ? ", " : "", runtimes[i]->name);

		if (strcmp(runtimes[i]->name, name) == 0) {
			*ret = runtimes[i];
			free(longer);
			return 0;
		}
		free(list);
		list = longer;
	}
	safe = str_printable(name, strlen(name), 60);
	return error_set(err, ERR_USAGE, "--runtime '%s': there are %s", safe, list);
}

void execution_take_said(struct execution *e, const char *text, size_t len)
{
	size_t n = 0;

	while (len > 0 && text[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < len && n + 1 < sizeof(e->detail); i++)
		e->detail[n++] = text[i] == '\n' || !text[i] ? ' ' : text[i];
	e->detail[n] = 0;
}

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

char **job_environment(const struct job *j)
{
	const struct claim *c = j->claim;
	size_t count = count_of(c->env), n = 0;
	char **env = mem_array(count + 5, sizeof(*env));

	for (size_t i = 0; i < count; i++)
		env[n++] = mem_strdup(c->env[i]);
	env[n++] = mem_strdup("DOTLAB_DATA_DIR=" JOB_DATA);
	env[n++] = mem_strdup("DOTLAB_OUT_DIR=" JOB_OUT);
	env[n++] = mem_strdup("HOME=/tmp");
	if (c->has_seed)
		env[n++] = str_format("DOTLAB_SEED=%" PRId64, c->seed);
	return env;
}

void job_environment_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

char *job_directory(const struct job *j)
{
	return j->claim->working_dir ? str_format(JOB_CODE "/%s", j->claim->working_dir)
				     : mem_strdup(JOB_CODE);
}
