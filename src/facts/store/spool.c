/* Spool: results waiting for the server, as JSON Lines in one file. Adding and sending lock the file; a result is acknowledged once its line is
 * synced. Sending may be repeated, because the server ignores known ids. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/backend.h"

#define SPOOL_MAX_B ((size_t)1 << 30)

static enum jl_status fail(const char *path, struct jl_err *err)
{
	return jl_fail(err, JL_E_IO, "%s: the spool cannot be used: {%s}", path, strerror(errno));
}

static enum jl_status write_all(int fd, const char *path, const char *data, size_t len, struct jl_err *err)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(path, err);
		data += n;
		len -= (size_t)n;
	}
	return JL_OK;
}

/* Syncs the folder, so that a new file's entry is on disk. */
static void sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];

	if (!slash || (size_t)(slash - path) >= sizeof(dir))
		return;
	(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	(void)close(fd);
}

enum jl_status jl_spool_add(const char *path, const char *lines, size_t len, struct jl_err *err)
{
	enum jl_status status = jl_store_make_parents(path, err);
	struct stat info;
	char last = '\n';

	if (status)
		return status;
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(path, err);
	if (flock(fd, LOCK_EX) != 0 || fstat(fd, &info) != 0) {
		status = fail(path, err);
		goto out;
	}
	if ((size_t)info.st_size + len > SPOOL_MAX_B) {
		status = jl_fail(err, JL_E_LIMIT, "%s: the spool is full (%zu MiB); make the server reachable", path,
				 SPOOL_MAX_B >> 20);
		goto out;
	}
	/* a writer died within a line, which was never acknowledged; end it so that the next line stays intact */
	if (info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n')
		status = write_all(fd, path, "\n", 1, err);
	JL_THEN(status, write_all(fd, path, lines, len, err));
	if (!status && fsync(fd) != 0)
		status = fail(path, err);
	if (status && ftruncate(fd, info.st_size) != 0)
		status = fail(path, err);
	if (info.st_size == 0)
		sync_folder(path);
out:
	(void)close(fd);
	return status;
}

/* Opens and locks the spool and reads it into `text`; -1 and JL_OK: no spool. */
static enum jl_status open_locked(const char *path, int *ret_fd, struct jl_buf *text, struct jl_err *err)
{
	char chunk[65536];
	ssize_t n;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	*ret_fd = -1;
	if (fd < 0)
		return errno == ENOENT ? JL_OK : fail(path, err);
	if (flock(fd, LOCK_EX) != 0)
		goto bad;
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			goto bad;
		jl_buf_add(text, chunk, (size_t)n);
	}
	if (text->failed) {
		(void)close(fd);
		return jl_fail_nomem(err);
	}
	*ret_fd = fd;
	return JL_OK;
bad:
	(void)fail(path, err);
	(void)close(fd);
	return JL_E_IO;
}

enum jl_status jl_spool_count(const char *path, size_t *ret_n, struct jl_err *err)
{
	struct jl_buf text;
	size_t n = 0;
	int fd;

	jl_buf_init(&text, SPOOL_MAX_B + 1);
	enum jl_status status = open_locked(path, &fd, &text, err);
	for (size_t i = 0; i < text.len; i++)
		n += text.data[i] != '\n' && text.data[i] != '#' && (i == 0 || text.data[i - 1] == '\n');
	if (fd >= 0)
		(void)close(fd);
	jl_buf_release(&text);
	if (!status)
		*ret_n = n;
	return status;
}

/* Moves an invalid line aside: it may be part of a record that a person can recover. */
static enum jl_status set_aside(const char *path, const char *line, size_t len, struct jl_err *err)
{
	char bad[4096];
	struct jl_buf buf;

	(void)snprintf(bad, sizeof(bad), "%s.bad", path);
	jl_buf_init(&buf, JL_RECORD_TEXT_MAX_B + 2);
	jl_buf_add(&buf, line, len);
	jl_buf_putc(&buf, '\n');
	enum jl_status status = buf.failed
					? JL_OK
					: jl_spool_add(bad, buf.data, buf.len,
						       err); /* too large for a record: not written by this program */
	jl_buf_release(&buf);
	return status;
}

static enum jl_status send_lines(const char *path, const struct jl_buf *text, const struct jl_spool_sink *sink,
				 size_t *ret_n, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	size_t n = 0;

	for (size_t at = 0; at < text->len && !status;) {
		const char *line = text->data + at;
		const char *end = memchr(line, '\n', text->len - at);
		size_t len = end ? (size_t)(end - line) : text->len - at;

		at += len + 1;
		if (len == 0 || *line == '#')
			continue;
		status = sink->send(sink->ctx, line, len, err);
		if (status == JL_E_PARSE || status == JL_E_DATA || status == JL_E_UNIT || status == JL_E_RANGE ||
		    status == JL_E_LIMIT)
			status = set_aside(path, line, len, err);
		else if (!status)
			n++;
	}
	if (!status)
		*ret_n = n;
	return status;
}

enum jl_status jl_spool_send(const char *path, const struct jl_spool_sink *sink, size_t *ret_n, struct jl_err *err)
{
	struct jl_buf text;
	size_t n = 0;
	int fd;

	jl_buf_init(&text, SPOOL_MAX_B + 1);
	enum jl_status status = open_locked(path, &fd, &text, err);
	if (!status && text.len > 0) {
		status = send_lines(path, &text, sink, &n, err);
		JL_THEN(status, sink->commit(sink->ctx, err));
		if (!status && !(sink->keep && *sink->keep) && (ftruncate(fd, 0) != 0 || fsync(fd) != 0))
			status = fail(path, err);
	}
	if (fd >= 0)
		(void)close(fd);
	jl_buf_release(&text);
	if (!status)
		*ret_n = n;
	return status;
}
