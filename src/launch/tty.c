/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's terminal: see tty.h. */
#include "launch/tty.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"

int tty_open(uint16_t columns, uint16_t rows, int *ret_master, int *ret_slave, struct error *err)
{
	struct winsize size = {.ws_col = columns, .ws_row = rows};
	int unlocked = 0;
	autoclose int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;

	if (master < 0)
		return error_sys(err, "open a terminal");
	if (ioctl(master, TIOCSPTLCK, &unlocked) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		return error_sys(err, "set up a terminal");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0)
		return error_sys(err, "open the guest's end of a terminal");
	*ret_master = take_fd(master);
	*ret_slave = take_fd(slave);
	return 0;
}
