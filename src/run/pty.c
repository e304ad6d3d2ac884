/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's terminal, and the caller's one while it is in raw mode: see pty.h. */
#include "run/pty.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/attr.h"

/* Written before the handlers are set; a handler only reads it. */
static struct termios saved;
static volatile sig_atomic_t is_raw;
static int guest_master = -1; /* borrowed; looked at only while raw */
static bool wants_suspend;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

void pty_restore(void)
{
	if (!is_raw)
		return;
	is_raw = 0;
	tcsetattr(0, TCSADRAIN, &saved);
}

static void on_fatal(int number)
{
	/* SA_RESETHAND: raised again it does what it always did. */
	pty_restore();
	raise(number);
}

static int set_raw(void)
{
	struct termios raw = saved;

	cfmakeraw(&raw);
	if (tcsetattr(0, TCSADRAIN, &raw) < 0)
		return -1;
	is_raw = 1;
	return 0;
}

int pty_raw(int master, struct error *err)
{
	static bool prepared;
	struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_RESETHAND | SA_NODEFER};

	guest_master = master;
	if (tcgetattr(0, &saved) < 0)
		return error_sys(err, "read the terminal's mode");
	if (!prepared) {
		prepared = true;
		for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++)
			sigaction(fatal_signals[i], &action, NULL);
		atexit(pty_restore);
	}
	if (set_raw() < 0)
		return error_sys(err, "put the terminal into raw mode");
	return 0;
}

bool pty_is_raw(void)
{
	return is_raw;
}

/* The guest's terminal makes signals of keys, for a foreground that nobody inside could continue.
 */
static bool is_ours_to_suspend(void)
{
	struct termios t;
	pid_t foreground = tcgetpgrp(guest_master);

	return tcgetattr(guest_master, &t) == 0 && (t.c_lflag & ISIG) && foreground > 0 &&
	       foreground == tcgetsid(guest_master);
}

/* Takes the first of these keys out; returns how much is left. */
static size_t take_key(unsigned char *data, size_t len, unsigned char *key)
{
	memmove(key, key + 1, len - (size_t)(key + 1 - data));
	return len - 1;
}

size_t pty_filter(unsigned char *data, size_t len)
{
	enum { CTRL_C = 3, CTRL_Z = 26 };
	unsigned char *interrupt = memchr(data, CTRL_C, len), *suspend;

	/* The guest is not there yet: its terminal would drop the key. */
	if (interrupt && tcgetpgrp(guest_master) <= 0) {
		kill(getpid(), SIGINT);
		len = take_key(data, len, interrupt);
	}
	suspend = memchr(data, CTRL_Z, len);
	if (suspend && is_ours_to_suspend()) {
		wants_suspend = true;
		len = take_key(data, len, suspend);
	}
	return len;
}

bool pty_take_suspend(void)
{
	bool was = wants_suspend;

	wants_suspend = false;
	return was;
}

void pty_suspend(void)
{
	bool was_raw = is_raw;

	pty_restore();
	raise(SIGSTOP);
	if (was_raw)
		set_raw();
}
