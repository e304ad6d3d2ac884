/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal while a task opens a FIFO that nobody has open at its other end.
 *: native
 *: long
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eintr.h"

static void other_end(void)
{
	if (open("fifo", O_RDWR) < 0)
		_exit(1);
}

int main(void)
{
	mkfifo("fifo", 0600);
	EINTR_TRY("open to read", other_end, open("fifo", O_RDONLY));
	unlink("fifo");
	mkfifo("fifo", 0600);
	EINTR_TRY("open to write", other_end, open("fifo", O_WRONLY));
	return 0;
}
