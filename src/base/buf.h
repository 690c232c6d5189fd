/* Growable byte buffer with a mandatory limit. Errors are sticky: append without checks, test `failed` once at the end. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct jl_buf {
	char *data; /* NUL-terminated after the first append */
	size_t len;
	size_t size_B;
	size_t limit_B;
	enum jl_status failed; /* JL_OK, JL_E_LIMIT or JL_E_NOMEM; after an error, appends are ignored */
};

void jl_buf_init(struct jl_buf *buf, size_t limit_B);
void jl_buf_release(struct jl_buf *buf);
void jl_buf_reset(struct jl_buf *buf); /* empties the buffer, keeps its memory */
void jl_buf_add(struct jl_buf *buf, const void *data, size_t len);
void jl_buf_puts(struct jl_buf *buf, const char *text);
void jl_buf_putc(struct jl_buf *buf, char c);
void jl_buf_pad(struct jl_buf *buf, char c, size_t n);
void jl_buf_printf(struct jl_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *jl_buf_text(const struct jl_buf *buf); /* never NULL */

/* Opens an input path given by the user: a file, a terminal, or a pipe with a writer. Other devices and pipes without a writer are refused, because
 * reading them would not end. */
enum jl_status jl_input_open(int *ret_fd, const char *path, struct jl_err *err);

/* Reads a whole file or pipe ("-": standard input), NUL-terminated; fails above limit_B. */
enum jl_status jl_buf_read_file(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err);
/* The same for a path built into the program: allowed while a request is answered (base/offered.h). */
enum jl_status jl_buf_read_own(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err);

/* Writes every output path given by the user. A regular file is replaced atomically and keeps its mode and owner. Links to files are followed.
 * Devices, and pipes with a reader, are written directly. A read-only file and a buffer in error are refused. */
enum jl_status jl_buf_write_file(const struct jl_buf *text, const char *path, struct jl_err *err);
