/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's own process: see host.h. */
#include "supervise/host.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "supervise/engine/call.h"

enum { TICK_US = 100000 };

static volatile sig_atomic_t alarmed, messaged;
static uint32_t delay_state;

static void on_alarm(int sig)
{
	(void)sig;
	alarmed = 1;
}

static void on_message(int sig)
{
	(void)sig;
	messaged = 1;
}

void host_init(void)
{
	struct sigaction alarm_action = {.sa_handler = on_alarm};
	struct sigaction message_action = {.sa_handler = on_message};
	/* No SIGCHLD for every stop: the wait tells them, and the signal costs a microsecond each.
	 */
	struct sigaction child_action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	struct itimerval tick = {{0, TICK_US}, {0, TICK_US}};

	if (sigaction(SIGCHLD, &child_action, NULL) < 0 ||
		sigaction(SIGALRM, &alarm_action, NULL) < 0 ||
		sigaction(SIGUSR1, &message_action, NULL) < 0 ||
		setitimer(ITIMER_REAL, &tick, NULL) < 0)
		abort();
}

bool host_take_alarm(void)
{
	bool was = alarmed;

	alarmed = 0;
	return was;
}

bool host_take_message(void)
{
	bool was = messaged;

	messaged = 0;
	return was;
}

void host_set_delays(uint32_t seed)
{
	delay_state = seed;
}

void host_delay(void)
{
	if (!delay_state)
		return;
	/* xorshift: about every 64th stop, up to 255 us */
	delay_state ^= delay_state << 13;
	delay_state ^= delay_state >> 17;
	delay_state ^= delay_state << 5;
	if ((delay_state & 63) == 0) {
		struct timespec pause = {.tv_nsec = (long)(delay_state >> 24) * 1000};

		nanosleep(&pause, NULL);
	}
}

static ssize_t read_proc(pid_t tid, const char *name, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

char host_task_state(pid_t tid)
{
	char text[512];
	const char *p;

	if (read_proc(tid, "stat", text, sizeof(text)) <= 0)
		return 'X';
	p = strrchr(text, ')');
	return p && p[1] ? p[2] : 'X';
}

static uint64_t count_transfers(pid_t tid)
{
	unsigned long long reads, writes;
	char text[256];

	if (read_proc(tid, "io", text, sizeof(text)) <= 0 ||
		sscanf(text, "rchar: %*u wchar: %*u syscr: %llu syscw: %llu", &reads, &writes) != 2)
		return UINT64_MAX;
	return reads + writes;
}

bool host_task_times(pid_t tid, struct host_times *ret)
{
	unsigned long long user, system, cpu;
	char text[512];
	const char *p;

	if (read_proc(tid, "stat", text, sizeof(text)) <= 0)
		return false;
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			  &system) != 2)
		return false;
	/* A kernel without schedstat has hundredths of a second. */
	if (read_proc(tid, "schedstat", text, sizeof(text)) <= 0 || sscanf(text, "%llu", &cpu) != 1)
		cpu = (user + system) * 10000000;
	*ret = (struct host_times){user, system, cpu, count_transfers(tid)};
	return true;
}

bool host_task_sleeps(pid_t tid, struct host_call *ret)
{
	char text[256];

	*ret = (struct host_call){.nr = -1};
	if (host_task_state(tid) != 'S')
		return false;
	if (read_proc(tid, "syscall", text, sizeof(text)) <= 0)
		return true;
	/* "running": it went on between the two looks. Of an address the low half is read. */
	return sscanf(text, "%d %x %x %x", &ret->nr, &ret->arg[0], &ret->arg[1], &ret->arg[2]) > 0;
}

const char *host_call_name(const struct host_call *call)
{
	static char number[32];
	const struct syscall_row *row = call_row(call->nr);

	if (row)
		return row->name;
	if (call->nr < 0)
		return "a system call";
	snprintf(number, sizeof(number), "system call %d", call->nr);
	return number;
}

void host_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 && sched_getaffinity(0, sizeof(set), &set) == 0)
		for (cpu = 0; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set); cpu++)
			continue;
	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	/* A CPU that is not ours to use: any will do, only slower. */
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return;
}
