/* Growable byte buffer, and reading of whole input files. */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/msg.h"
#include "base/offered.h"
#include "base/units.h"

void jl_buf_init(struct jl_buf *buf, size_t limit_B)
{
	*buf = (struct jl_buf){ .limit_B = limit_B };
}

void jl_buf_release(struct jl_buf *buf)
{
	jl_free(buf->data);
	*buf = (struct jl_buf){ .limit_B = buf->limit_B };
}

void jl_buf_reset(struct jl_buf *buf)
{
	buf->len = 0;
	buf->failed = JL_OK;
	if (buf->data)
		buf->data[0] = '\0';
}

/* Ensures capacity for `extra` more bytes and the terminating NUL. */
static bool reserve(struct jl_buf *buf, size_t extra)
{
	size_t need, size_B;
	char *data;

	if (buf->failed)
		return false;
	if (extra > buf->limit_B || buf->len > buf->limit_B - extra) {
		buf->failed = JL_E_LIMIT;
		return false;
	}
	need = buf->len + extra + 1;
	if (need <= buf->size_B)
		return true;
	size_B = buf->size_B ? buf->size_B : 256;
	while (size_B < need)
		size_B = size_B < SIZE_MAX / 2 ? size_B * 2 : need;
	data = jl_realloc(buf->data, size_B);
	if (!data) {
		buf->failed = JL_E_NOMEM;
		return false;
	}
	buf->data = data;
	buf->size_B = size_B;
	return true;
}

void jl_buf_add(struct jl_buf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void jl_buf_puts(struct jl_buf *buf, const char *text)
{
	jl_buf_add(buf, text, strlen(text));
}

void jl_buf_putc(struct jl_buf *buf, char c)
{
	jl_buf_add(buf, &c, 1);
}

void jl_buf_pad(struct jl_buf *buf, char c, size_t n)
{
	if (!reserve(buf, n))
		return;
	memset(buf->data + buf->len, c, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void jl_buf_printf(struct jl_buf *buf, const char *format, ...)
{
	char room[JL_MSG_FORMAT_MAX];
	const char *hidden = jl_msg_hide(room, format);
	va_list args;

	va_start(args, format);
	int n = vsnprintf(NULL, 0, hidden, args);
	va_end(args);
	if (n < 0 || !reserve(buf, (size_t)n))
		return;
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)n + 1, hidden, args);
	va_end(args);
	buf->len += hidden == format ? (size_t)n : jl_msg_resolve(buf->data + buf->len);
}

const char *jl_buf_text(const struct jl_buf *buf)
{
	return buf->data ? buf->data : "";
}

#define WRITER_MS 1500 /* timeout for a pipe whose writer is silent, in ms */

/* Reason why reading this descriptor would not end. NULL: it ends (a file, a terminal, a pipe with a writer). */
static const char *endless(int fd)
{
	struct stat info, null;
	char byte;

	if (fstat(fd, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || isatty(fd))
		return NULL;
	if (!S_ISFIFO(info.st_mode))
		return stat("/dev/null", &null) == 0 && info.st_rdev == null.st_rdev
			       ? NULL
			       : JL_N("it is a device, not a file");
	/* read returns EAGAIN on an empty pipe that has a writer, 0 on one without */
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, WRITER_MS) == 0 && read(fd, &byte, 1) >= 0
		       ? JL_N("it is a pipe without a writer")
		       : NULL;
}

enum jl_status jl_input_open(int *ret_fd, const char *path, struct jl_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why = fd < 0 ? strerror(errno) : endless(fd);
	const enum jl_status status = fd < 0 && errno == ENOENT ? JL_E_NOTFOUND : JL_E_IO;

	if (fd >= 0 && why)
		(void)close(fd);
	if (why)
		return jl_fail(err, status, "%s: cannot be opened: {%s}", path, why);
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	*ret_fd = fd;
	return JL_OK;
}

static enum jl_status read_all(struct jl_buf *buf, FILE *file, const char *name, struct jl_err *err)
{
	char chunk[16384], limit[JL_UNITS_TEXT_MAX];
	size_t n;

	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		jl_buf_add(buf, chunk, n);
		if (buf->failed == JL_E_LIMIT)
			return jl_fail(err, JL_E_LIMIT, "%s: larger than %s, which is the most we read", name,
				       jl_units_text(limit, (double)buf->limit_B, JL_K_BYTES, 3));
		if (buf->failed)
			return jl_fail_nomem(err);
	}
	if (ferror(file))
		return jl_fail(err, JL_E_IO, "%s: cannot be read: {%s}", name, strerror(errno));
	jl_buf_add(buf, "", 0); /* an empty file gives "", not NULL */
	return buf->failed ? jl_fail_nomem(err) : JL_OK;
}

static enum jl_status read_offered(struct jl_buf *ret_buf, const struct jl_offered *file, const char *path,
				   size_t limit_B, struct jl_err *err)
{
	struct jl_buf buf;

	if (!file)
		return jl_offered_fail(path, err);
	jl_buf_init(&buf, limit_B);
	jl_buf_add(&buf, file->text, file->len);
	if (buf.failed) {
		const enum jl_status status = buf.failed;

		jl_buf_release(&buf);
		return status == JL_E_LIMIT ? jl_fail(err, status, "%s: too large", path) : jl_fail_nomem(err);
	}
	*ret_buf = buf;
	return JL_OK;
}

enum jl_status jl_buf_read_file(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err)
{
	const struct jl_offered *file;

	return jl_offered(&file, path) ? read_offered(ret_buf, file, path, limit_B, err)
				       : jl_buf_read_own(ret_buf, path, limit_B, err);
}

enum jl_status jl_buf_read_own(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err)
{
	struct jl_buf buf;
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file;
	int fd = -1;

	if (!is_stdin)
		JL_TRY(jl_input_open(&fd, path, err));
	file = is_stdin ? stdin : fdopen(fd, "rb");
	if (!file) {
		(void)close(fd);
		return jl_fail_nomem(err);
	}
	jl_buf_init(&buf, limit_B);
	enum jl_status status = read_all(&buf, file, is_stdin ? "standard input" : path, err);
	if (!is_stdin)
		fclose(file);
	if (status) {
		jl_buf_release(&buf);
		return status;
	}
	*ret_buf = buf;
	return JL_OK;
}
