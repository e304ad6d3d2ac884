/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the container: see net.h. */
#include "launch/net.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/fd.h"

int net_loopback_up(struct error *err)
{
	autoclose int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* The kernel gives it 127.0.0.1 and ::1 by itself when it comes up. */
	struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &req) < 0)
		return error_sys(err, "bring the loopback device up");
	return 0;
}
