/* Writes a file named by the user, atomically where possible. Knows nothing of the content. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/offered.h"

static enum jl_status fail(const char *path, int why, struct jl_err *err)
{
	return jl_fail(err, JL_E_IO, "%s: cannot be written: {%s}", path, strerror(why));
}

/* Returns 0 or errno. */
static int write_all(int fd, const struct jl_buf *text)
{
	const char *at = jl_buf_text(text);

	for (size_t left = text->len; left > 0;) {
		const ssize_t n = write(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1) >= 0)
			continue; /* EAGAIN: wait for a slow reader of a pipe */
		if (n < 0)
			return errno;
		at += n;
		left -= (size_t)n;
	}
	return 0;
}

static int write_directly(const char *path, int flags, const struct jl_buf *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);

	if (fd < 0)
		return errno;
	int why = write_all(fd, text);
	if (close(fd) != 0 && !why)
		why = errno;
	return why;
}

/* Writes a temporary file next to `path` and renames it, so that the replacement is atomic. `old`: the existing file; NULL: none. */
static int replace(const char *path, const struct stat *old, const struct jl_buf *text)
{
	char beside[PATH_MAX];

	if ((size_t)snprintf(beside, sizeof(beside), "%s.%ld.part", path, (long)getpid()) >= sizeof(beside))
		return ENAMETOOLONG;
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
	if (fd < 0)
		return errno;
	int why = write_all(fd, text);
	/* chown before chmod: chown clears set-user-id bits */
	if (!why && old && (old->st_uid != geteuid() || old->st_gid != getegid()))
		why = fchown(fd, old->st_uid, old->st_gid) ? errno : 0;
	if (!why && old && fchmod(fd, old->st_mode & 07777) != 0)
		why = errno;
	if (!why && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
		why = errno; /* fsync before rename: a power cut must not leave an empty file under the final name */
	if (close(fd) != 0 && !why)
		why = errno;
	if (!why && rename(beside, path) != 0)
		why = errno;
	if (why)
		(void)unlink(beside);
	return why;
}

enum jl_status jl_buf_write_file(const struct jl_buf *text, const char *path, struct jl_err *err)
{
	char real[PATH_MAX];
	struct stat old;
	int why;

	if (jl_answering())
		return fail(path, EROFS, err);
	if (text->failed == JL_E_NOMEM || jl_mem_ran_out())
		return jl_fail_nomem(err);
	if (text->failed)
		return jl_fail(err, text->failed, "%s: too large to write", path);
	if (stat(path, &old) != 0) {
		/* a dangling link: its owner would choose where a file is created */
		if (errno == ENOENT && lstat(path, &old) == 0)
			return jl_fail(err, JL_E_IO, "%s: a link to a file that is not there; name the file itself",
				       path);
		why = errno != ENOENT ? errno : replace(path, NULL, text);
		return why ? fail(path, why, err) : JL_OK;
	}
	if (!S_ISREG(old.st_mode)) {
		/* O_NONBLOCK: do not wait for a pipe's reader */
		why = write_directly(path, S_ISFIFO(old.st_mode) ? O_NONBLOCK : 0, text);
		if (why == ENXIO)
			return jl_fail(err, JL_E_IO, "%s: a pipe that no program reads", path);
		return why ? fail(path, why, err) : JL_OK;
	}
	/* refuse a read-only file, for root too */
	if (!(old.st_mode & 0222) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		return fail(path, EACCES, err);
	why = old.st_nlink > 1 || !realpath(path, real) ? EXDEV : replace(real, &old, text);
	/* no temporary file can be made in this folder, or the file has other hard links: overwrite in place, as cp does */
	if (why == EACCES || why == EPERM || why == EXDEV || why == EBUSY || why == EROFS || why == ENAMETOOLONG)
		why = write_directly(path, O_TRUNC, text);
	return why ? fail(path, why, err) : JL_OK;
}
