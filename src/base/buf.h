/* A growable byte buffer with a mandatory limit. Errors stick: append freely, look at `failed` once at the end. */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct jl_buf {
	char *data; /* always NUL-terminated once something was appended */
	size_t len;
	size_t size_B;
	size_t limit_B;
	enum jl_status failed; /* JL_OK, JL_E_LIMIT or JL_E_NOMEM; further appends are ignored */
};

void jl_buf_init(struct jl_buf *buf, size_t limit_B);
void jl_buf_release(struct jl_buf *buf);
void jl_buf_reset(struct jl_buf *buf); /* empty, memory kept */
void jl_buf_add(struct jl_buf *buf, const void *data, size_t len);
void jl_buf_puts(struct jl_buf *buf, const char *text);
void jl_buf_putc(struct jl_buf *buf, char c);
void jl_buf_pad(struct jl_buf *buf, char c, size_t n);
void jl_buf_printf(struct jl_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *jl_buf_text(const struct jl_buf *buf); /* never NULL */

/* Opens what a person names as input: a file, a terminal, or a pipe with a writer; other devices have no end, and a pipe without a
 * writer is not waited for. */
enum jl_status jl_input_open(int *ret_fd, const char *path, struct jl_err *err);

/* The whole of a file, a pipe or "-" for standard input; refused above limit_B. NUL-terminated in `ret_buf`. */
enum jl_status jl_buf_read_file(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err);
/* The same of a file that the program knows by itself: also while a request is answered (base/offered.h). */
enum jl_status jl_buf_read_own(struct jl_buf *ret_buf, const char *path, size_t limit_B, struct jl_err *err);

/* Everything that a person may name as output goes through here. A file is replaced whole or not at all and keeps its mode and owner;
 * links to files are followed; devices and pipes that are read are written to; a file that may not be written is refused. A buffer that failed too. */
enum jl_status jl_buf_write_file(const struct jl_buf *text, const char *path, struct jl_err *err);
