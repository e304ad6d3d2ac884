/* SPDX-License-Identifier: Apache-2.0 */
/* Tries of the supervisor, by its file, by its own tries, and by a whole run. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/supervisor.h"
#include "doctor/tries.h"
#include "launch/mounts.h"

enum { HEADERS_MAX = 64, OUTPUT_MAX = 8192 };

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "i386";
	default:
		return "another architecture";
	}
}

/* The program's interpreter is what makes it dynamic. 1: it has one; 0: none; -1: no program. */
static int has_interpreter(int fd, const Elf64_Ehdr *header)
{
	if (header->e_phnum > HEADERS_MAX || header->e_phentsize != sizeof(Elf64_Phdr))
		return -1;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(header->e_phoff + i * sizeof(p))) != sizeof(p))
			return -1;
		if (p.p_type == PT_INTERP)
			return 1;
	}
	return 0;
}

void try_supervisor(struct doctor_finding *f)
{
	autoclose int fd = -1;
	Elf64_Ehdr header;
	struct error err;
	int dynamic;

	if (supervisor_open(&fd, &err) < 0) {
		finding_set(f, DOCTOR_MISSING, "%.470s", err.msg);
		return;
	}
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
		finding_set(f, DOCTOR_MISSING, "it is no ELF program");
		return;
	}
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != OUR_MACHINE) {
		finding_set(f, DOCTOR_MISSING, "it is for %s, this machine is %s",
			machine_name(header.e_machine), machine_name(OUR_MACHINE));
		return;
	}
	dynamic = has_interpreter(fd, &header);
	if (dynamic != 0) {
		finding_set(f, DOCTOR_MISSING,
			dynamic < 0 ? "its program headers are damaged"
				    : "it is dynamically linked: in another "
				      "root file system it finds no libraries");
		finding_remedy(f, "link it with -static-pie, as the build does");
		return;
	}
	finding_set(f, DOCTOR_OK, "static, for %s", machine_name(header.e_machine));
}

/* ---- its own tries ---- */

/* Starts argv, or the open program; its output goes into text. Its wait status. */
static int run_program(int program, char *const argv[], char *text, size_t size)
{
	static char *const no_environment[] = {NULL};
	int out[2], status = -1;
	pid_t pid;

	text[0] = '\0';
	if (pipe2(out, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null < 0 || dup2(null, 0) < 0 || dup2(out[1], 1) < 0 || dup2(out[1], 2) < 0)
			_exit(125);
		if (program >= 0)
			fexecve(program, argv, no_environment);
		else
			execv(argv[0], argv);
		dprintf(1, "cannot be executed: %s", strerror(errno));
		_exit(126);
	}
	close(out[1]);
	child_read(out[0], text, size);
	close(out[0]);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static int program_fd = -1;
static int answer_fd = -1;

static void run_probe(struct doctor_finding *f)
{
	static char name[] = "sandglass-supervise", option[] = "--probe";
	char text[OUTPUT_MAX];
	autoclose int proc = -1;
	struct error ignored;

	/* Its own children's numbers have to be found in /proc, as in a run. */
	if (mounts_new("proc", MOUNTS_WRITABLE, NULL, 0, &proc, &ignored) == 0 &&
		mounts_attach(proc, AT_FDCWD, "/proc", &ignored) < 0)
		f->level = DOCTOR_DEGRADED;
	run_program(program_fd, (char *[]){name, option, NULL}, text, sizeof(text));
	finding_set(f, DOCTOR_OK, "%.200s", text);
	if (fd_write_all(answer_fd, text, strlen(text), &ignored) < 0)
		f->level = DOCTOR_MISSING;
}

static bool level_find(const char *word, enum doctor_level *ret)
{
	for (int l = 0; l < DOCTOR_LEVELS; l++)
		if (strcmp(doctor_level_name((enum doctor_level)l), word) == 0) {
			*ret = (enum doctor_level)l;
			return true;
		}
	return false;
}

/* "name TAB level TAB detail" */
static void take_line(struct doctor_finding *findings, char *line)
{
	char *level_word = strchr(line, '\t'),
	     *detail = level_word ? strchr(level_word + 1, '\t') : NULL;
	enum doctor_level level;

	if (!detail)
		return;
	*level_word++ = '\0';
	*detail++ = '\0';
	for (int i = 0; i < DOCTOR_CHECKS; i++)
		if (strcmp(doctor_name((enum doctor_check)i), line) == 0 &&
			level_find(level_word, &level))
			finding_set(&findings[i], level, "%s", detail);
}

/* Yama may be what refuses: whoever is told to set it has to know how it is. */
static void add_yama(struct doctor_finding *f)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	size_t len = strlen(f->detail);
	int scope;

	if (file && fscanf(file, "%d", &scope) == 1)
		snprintf(f->detail + len, sizeof(f->detail) - len,
			"; kernel.yama.ptrace_scope = %d", scope);
	if (file)
		fclose(file);
}

void probe_ask(struct doctor_finding *findings)
{
	struct doctor_finding *own = &findings[DOCTOR_supervisor], f = {0};
	char text[OUTPUT_MAX], *rest = text, *line;
	int pair[2];
	struct error err;

	if (supervisor_open(&program_fd, &err) < 0 || pipe2(pair, O_CLOEXEC) < 0)
		return;
	answer_fd = pair[1];
	/* As init of namespaces it has the rights of a run's; without them it tries as it is. */
	if (child_try_inside(run_probe, &f, &err) < 0)
		child_try(run_probe, &f);
	fd_close(&answer_fd);
	fd_close(&program_fd);
	child_read(pair[0], text, sizeof(text));
	close(pair[0]);
	if (!strchr(text, '\t')) {
		autofree char *safe = str_printable(text, strcspn(text, "\n"), 200);

		finding_set(own, DOCTOR_MISSING, "it does not answer%s%s", *text ? ": " : "", safe);
		return;
	}
	while ((line = strsep(&rest, "\n")))
		take_line(findings, line);
	add_yama(&findings[DOCTOR_ptrace]);
}

/* ---- a run ---- */

void try_run(struct doctor_finding *f)
{
	/* The hour has to pass at once, and by exactly an hour. */
	static char self[] = "/proc/self/exe", run[] = "run", workdir[] = "--workdir",
		    tmp[] = "/tmp", end[] = "--", shell[] = "/bin/sh", c[] = "-c",
		    script[] = "date +%s; sleep 3600; date +%s";
	static const char expected[] = "1700000000\n1700003600\n";
	char *const argv[] = {self, run, workdir, tmp, end, shell, c, script, NULL};
	char text[OUTPUT_MAX];
	int status;

	/* From here there is no directory to copy. */
	if (chdir("/") < 0)
		return;
	status = run_program(-1, argv, text, sizeof(text));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && strcmp(text, expected) == 0) {
		finding_set(f, DOCTOR_OK, "an hour's sleep passed at once, and by an hour");
		return;
	}
	autofree char *safe = str_printable(text, strcspn(text, "\n"), 300);
	if (WIFEXITED(status))
		finding_set(f, WEXITSTATUS(status) == 121 ? DOCTOR_DEGRADED : DOCTOR_MISSING,
			"exit %d: %s", WEXITSTATUS(status), safe);
	else
		finding_set(f, DOCTOR_MISSING, "it did not end by itself: %s", safe);
}
