/* SPDX-License-Identifier: Apache-2.0 */
/* attack FAMILY/NAME [CANARY=VALUE ...]: tries to get out of the sandbox and says whether it could.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct canary canary = {.secret = "",
	.mark = "",
	.process = "",
	.cmdline = "",
	.host = "",
	.socket = "",
	.bind = ""};

struct attack {
	const char *name;
	enum verdict (*run)(void);
};

static const struct attack attacks[] = {
#define X(family, name) {#family "/" #name, family##_##name},
#include "attacks.def"
#undef X
};

static char reason[512];

__attribute__((format(printf, 2, 0))) static enum verdict say(
	enum verdict verdict, const char *format, va_list args)
{
	vsnprintf(reason, sizeof(reason), format, args);
	return verdict;
}

enum verdict contained(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	enum verdict verdict = say(CONTAINED, format, args);
	va_end(args);
	return verdict;
}

enum verdict escaped(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	enum verdict verdict = say(ESCAPED, format, args);
	va_end(args);
	return verdict;
}

enum verdict judged(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	enum verdict verdict = say(JUDGED, format, args);
	va_end(args);
	return verdict;
}

enum verdict refused(const char *what, long result)
{
	if (result >= 0)
		return escaped("%s worked", what);
	return contained("%s: %s", what, strerror(errno));
}

enum verdict refused_open(const char *const *paths, int flags)
{
	for (; *paths; paths++) {
		int fd = open(*paths, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

		if (fd >= 0) {
			close(fd);
			return escaped("'%s' could be opened", *paths);
		}
	}
	return contained("none could be opened, the last one: %s", strerror(errno));
}

int file_holds(const char *path, const char *text)
{
	static char data[1 << 17];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = 0;

	if (fd < 0)
		return -1;
	for (;;) {
		ssize_t n = read(fd, data + len, sizeof(data) - len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	return len && *text && memmem(data, len, text, strlen(text)) ? 1 : 0;
}

enum verdict in_child(enum verdict (*f)(void))
{
	char *shared = mmap(
		NULL, sizeof(reason), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (shared == MAP_FAILED)
		return contained("no memory for a child");
	pid_t pid = fork();
	if (pid == 0) {
		enum verdict verdict = f();

		memcpy(shared, reason, sizeof(reason));
		_exit(verdict);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return contained("no child: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return contained("killed by signal %d", WTERMSIG(status));
	memcpy(reason, shared, sizeof(reason));
	return (enum verdict)WEXITSTATUS(status);
}

static void take(const char *word)
{
	const struct {
		const char *name, **value;
	} texts[] = {{"secret=", &canary.secret}, {"mark=", &canary.mark},
		{"process=", &canary.process}, {"cmdline=", &canary.cmdline},
		{"host=", &canary.host}, {"socket=", &canary.socket}, {"bind=", &canary.bind}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strncmp(word, texts[i].name, strlen(texts[i].name)) == 0)
			*texts[i].value = word + strlen(texts[i].name);
	if (strncmp(word, "pid=", 4) == 0)
		canary.pid = (pid_t)strtol(word + 4, NULL, 10);
	if (strncmp(word, "mib=", 4) == 0)
		canary.mib = strtoul(word + 4, NULL, 10);
}

int main(int argc, char **argv)
{
	static const char *const words[] = {"CONTAINED", "ESCAPED", "JUDGED"};

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++)
			puts(attacks[i].name);
		return 0;
	}
	for (int i = 2; i < argc; i++)
		take(argv[i]);
	for (size_t i = 0; argc > 1 && i < sizeof(attacks) / sizeof(*attacks); i++) {
		if (strcmp(argv[1], attacks[i].name) == 0) {
			enum verdict verdict = attacks[i].run();

			printf("%s %s\n", words[verdict], reason);
			return 0;
		}
	}
	fprintf(stderr, "attack: give one of --list\n");
	return 2;
}
