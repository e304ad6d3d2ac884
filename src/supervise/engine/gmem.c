/* SPDX-License-Identifier: Apache-2.0 */
/* Guest memory: see gmem.h. */
#include "supervise/engine/gmem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int mem_fd(struct mm *mm)
{
	char path[32];

	/* Through any task that lives in it; they may come and go. */
	for (const struct task *t = task_list; t && mm->mem_fd < 0; t = t->next)
		if (t->mm == mm) {
			snprintf(path, sizeof(path), "/proc/%d/mem", t->tid);
			mm->mem_fd = open(path, O_RDWR | O_CLOEXEC);
		}
	return mm->mem_fd;
}

ssize_t gmem_read_some(struct task *t, uint64_t addr, void *ret_data, size_t len)
{
	struct iovec to = {ret_data, len}, from = {(void *)(uintptr_t)addr, len};
	ssize_t n;

	if (len == 0)
		return 0;
	n = process_vm_readv(t->tid, &to, 1, &from, 1, 0);
	if (n < 0 && errno == EPERM) { /* a container's seccomp profile: through /proc */
		int fd = mem_fd(t->mm);

		n = fd < 0 ? -1 : pread(fd, ret_data, len, (off_t)addr);
	}
	return n <= 0 ? -EFAULT : n;
}

int gmem_read(struct task *t, uint64_t addr, void *ret_data, size_t len)
{
	char *p = ret_data;

	while (len > 0) {
		ssize_t n = gmem_read_some(t, addr, p, len);

		if (n < 0)
			return -EFAULT;
		p += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int gmem_write(struct task *t, uint64_t addr, const void *data, size_t len)
{
	struct iovec from = {(void *)(uintptr_t)data, len}, to = {(void *)(uintptr_t)addr, len};
	ssize_t n;

	if (len == 0)
		return 0;
	n = process_vm_writev(t->tid, &from, 1, &to, 1, 0);
	if (n < 0 && errno == EPERM) {
		int fd = mem_fd(t->mm);

		n = fd < 0 ? -1 : pwrite(fd, data, len, (off_t)addr);
	}
	return n == (ssize_t)len ? 0 : -EFAULT;
}

ssize_t gmem_read_string(struct task *t, uint64_t addr, char *ret_text, size_t size)
{
	size_t len = 0;

	/* Page by page, since the string may end right before an unmapped one. */
	while (len < size) {
		size_t part = PAGE - (addr + len) % PAGE;
		ssize_t n;
		char *end;

		if (len == 0 && part > 256)
			part = 256;
		if (part > size - len)
			part = size - len;
		n = gmem_read_some(t, addr + len, ret_text + len, part);
		if (n < 0)
			return -EFAULT;
		end = memchr(ret_text + len, '\0', (size_t)n);
		if (end)
			return end - ret_text;
		len += (size_t)n;
	}
	return -ENAMETOOLONG;
}

int gmem_poke(struct mm *mm, uint64_t addr, const void *data, size_t len)
{
	int fd = mem_fd(mm);

	if (fd < 0)
		return -1;
	return pwrite(fd, data, len, (off_t)addr) == (ssize_t)len ? 0 : -1;
}
