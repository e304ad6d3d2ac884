/* SPDX-License-Identifier: Apache-2.0 */
/* Signals through a descriptor: see signals.h. */
#include "base/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

int signals_open(int more, int *ret_fd, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	if (more)
		sigaddset(&set, more);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_sys(err, "block signals");
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? error_sys(err, "signalfd") : 0;
}
