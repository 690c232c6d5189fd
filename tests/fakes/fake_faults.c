/* Laid in front of the C library (LD_PRELOAD): lets the n-th call of a kind fail, as a machine does that is out of memory or disk.
 * JEOUL_FAULT is KIND:N: the N-th and all after it; KIND:N!: only the N-th; KIND:0: none, and how many there were is said at the end.
 * Kinds: alloc (malloc and its kin), disk (what puts bytes or names onto a disk). */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long n_calls;
static long nth;
static bool only, alloc_kind, disk_kind;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("JEOUL_FAULT"), *number = text ? strchr(text, ':') : NULL;

	if (!number)
		return;
	alloc_kind = strncmp(text, "alloc:", 6) == 0;
	disk_kind = strncmp(text, "disk:", 5) == 0;
	nth = strtol(number + 1, NULL, 10);
	only = text[strlen(text) - 1] == '!';
}

__attribute__((destructor)) static void end(void)
{
	char line[64];

	if ((alloc_kind || disk_kind) && nth == 0 &&
	    write(2, line, (size_t)snprintf(line, sizeof(line), "faults: %ld\n", atomic_load(&n_calls))) < 0)
		return;
}

static bool fails(bool kind)
{
	const long n = kind ? atomic_fetch_add(&n_calls, 1) + 1 : 0;

	return kind && nth && (only ? n == nth : n >= nth);
}

/* Standard output and pipes are no disk. */
static bool disk_fails(int fd)
{
	struct stat info;

	if (!disk_kind || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	if (!fails(true))
		return false;
	errno = ENOSPC;
	return true;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* --- memory: the C library's own entry points, which need no table */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool no_memory(void)
{
	if (!fails(alloc_kind))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return size && no_memory() ? NULL : __libc_realloc(old, size);
}

/* --- disk */

#define DISK(result, name, parameters, arguments)                                                                      \
	result name parameters;                                                                                        \
	result name parameters                                                                                         \
	{                                                                                                              \
		result(*real) parameters;                                                                              \
		void *symbol = disk_fails(fd) ? NULL : next(#name);                                                    \
                                                                                                                       \
		if (!symbol)                                                                                           \
			return -1;                                                                                     \
		memcpy(&real, &symbol, sizeof(real));                                                                  \
		return real arguments;                                                                                 \
	}

DISK(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
DISK(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
DISK(ssize_t, pwrite64, (int fd, const void *data, size_t size, int64_t at), (fd, data, size, at))
DISK(ssize_t, writev, (int fd, const struct iovec *parts, int n), (fd, parts, n))
DISK(int, fsync, (int fd), (fd))
DISK(int, fdatasync, (int fd), (fd))
DISK(int, ftruncate, (int fd, off_t size), (fd, size))
DISK(int, ftruncate64, (int fd, int64_t size), (fd, size))
DISK(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *);
	void *symbol = next("rename");

	if (fails(disk_kind)) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(&real, &symbol, sizeof(real));
	return real(from, to);
}
