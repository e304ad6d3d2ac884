/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and the audit log as the commands use them: see evidence.h. */
#include "cli/evidence.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "attest/keyring.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/paths.h"

int cli_keys_dir(char **ret, struct error *err)
{
	autofree char *state = NULL;

	if (paths_find(PATHS_STATE, &state, err) < 0)
		return -1;
	*ret = path_join(state, "keys");
	return 0;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

/* The first line of a file that is its owner's alone. */
static int passphrase_of_file(const char *path, char **ret, struct error *err)
{
	autoclose int fd = -1;
	autofree char *text = NULL;
	size_t len;

	if (key_file_open(AT_FDCWD, path, &fd, err) < 0)
		return -1;
	if (fd_slurp(fd, KEY_PASSPHRASE_MAX + 1, &text, &len, err) < 0)
		return error_wrap(err, "passphrase file '%s'", path);
	text[strcspn(text, "\r\n")] = '\0';
	if (!text[0])
		return error_set(err, ERR_USAGE, "passphrase file '%s' is empty", path);
	*ret = take_ptr(text);
	return 0;
}

/* One line from the terminal that is not shown. */
static int ask_terminal(const char *question, char **ret, struct error *err)
{
	autoclose int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios shown, hidden;
	char line[KEY_PASSPHRASE_MAX + 2];
	ssize_t n;

	if (tty < 0 || tcgetattr(tty, &shown) < 0)
		return error_set(err, ERR_USAGE,
			"the key has a passphrase and there is no terminal to ask for it; "
			"SANDGLASS_KEY_PASSPHRASE_FILE may name a file");
	hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	dprintf(tty, "%s: ", question);
	tcsetattr(tty, TCSAFLUSH, &hidden);
	n = read(tty, line, sizeof(line) - 1);
	tcsetattr(tty, TCSAFLUSH, &shown);
	dprintf(tty, "\n");
	if (n <= 1) {
		explicit_bzero(line, sizeof(line));
		return error_set(err, ERR_USAGE, "no passphrase was given");
	}
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	*ret = mem_strdup(line);
	explicit_bzero(line, sizeof(line));
	return 0;
}

static int ask(void *context, char **ret, struct error *err)
{
	const char *file = variable("SANDGLASS_KEY_PASSPHRASE_FILE");

	(void)context;
	return file ? passphrase_of_file(file, ret, err)
		    : ask_terminal("passphrase of the signing key", ret, err);
}

int cli_signing_key(struct key **ret, struct error *err)
{
	autofree char *dir = NULL;
	const char *path = variable("SANDGLASS_KEY");

	if (!path && cli_keys_dir(&dir, err) < 0)
		return -1;
	return keyring_open(dir, path, ask, NULL, ret, err);
}

int cli_new_passphrase(const char *file, char **ret, struct error *err)
{
	char *first = NULL, *second = NULL;
	int r;

	if (file)
		return passphrase_of_file(file, ret, err);
	r = ask_terminal("new passphrase", &first, err);
	if (r == 0)
		r = ask_terminal("once more", &second, err);
	if (r == 0 && strcmp(first, second) != 0)
		r = error_set(err, ERR_USAGE, "the two passphrases differ");
	if (second)
		explicit_bzero(second, strlen(second));
	free(second);
	if (r == 0) {
		*ret = first;
		return 0;
	}
	if (first)
		explicit_bzero(first, strlen(first));
	free(first);
	return r;
}

int cli_audit_open(const char *dir, const char *key, enum audit_mode mode, struct audit **ret,
	struct error *err)
{
	autofree char *state = NULL;

	return paths_find(PATHS_STATE, &state, err) < 0
		       ? -1
		       : audit_open_state(state, dir, key, mode, ret, err);
}

int cli_audit_record(const char *type, const char *resource_type, const char *resource_id,
	json_t *details, struct error *err)
{
	auto_json json_t *owned = details;
	auto_audit struct audit *a = NULL;
	struct audit_event e = {.type = type,
		.resource_type = resource_type,
		.resource_id = resource_id,
		.details = owned};

	if (cli_audit_open(NULL, NULL, AUDIT_APPEND, &a, err) < 0 ||
		audit_append(a, &e, NULL, err) < 0)
		return error_wrap(err, "audit log");
	return 0;
}
