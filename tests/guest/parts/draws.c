/* SPDX-License-Identifier: Apache-2.0 */
/* Prints randomness from every place that Linux has it, in a parent and in two children. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_bytes(const char *name, const unsigned char *bytes, ssize_t len)
{
	printf("%s ", name);
	for (ssize_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	printf("\n");
}

static void print_file(const char *path, size_t len)
{
	unsigned char bytes[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, len);

	print_bytes(path, bytes, n);
	close(fd);
}

static void draw(const char *who)
{
	unsigned char bytes[16];

	printf("%s\n", who);
	print_bytes("getrandom", bytes, getrandom(bytes, sizeof(bytes), 0));
	print_bytes("getrandom", bytes, getrandom(bytes, sizeof(bytes), GRND_NONBLOCK));
	print_bytes("getentropy", bytes, getentropy(bytes, 8) == 0 ? 8 : 0);
	print_file("/dev/urandom", 16);
	print_file("/dev/random", 16);
	print_file("/proc/sys/kernel/random/uuid", 36);
	print_file("/proc/sys/kernel/random/uuid", 36);
	print_file("/proc/sys/kernel/random/boot_id", 36);
	const unsigned char *seed = (const unsigned char *)getauxval(AT_RANDOM);
	print_bytes("AT_RANDOM", seed, seed ? 16 : 0);
	fflush(stdout);
}

int main(void)
{
	draw("parent");
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			draw("child");
			_exit(0);
		}
		wait(NULL);
	}
	draw("parent");
	return 0;
}
