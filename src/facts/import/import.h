/* Measurements of other tools, read from their output: nccl-tests, OSU, iperf3, nvbandwidth, nvidia-smi, training
 * logs.
 *
 * What it is shows by its content, not by its name. A stream of any length is read in bounded memory; text that no
 * reader knows is skipped. A number is taken only where the line says completely what it is: a line that was torn off,
 * columns that contradict one another or a matrix that is cut are dropped, and a remark says so. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "record/record.h"

#define JL_IMPORT_LINE_MAX_B  ((size_t)16 << 10) /* longer lines are passed over */
#define JL_IMPORT_JSON_MAX_B  ((size_t)64 << 20) /* a JSON document is read as a whole */
#define JL_IMPORT_REMARKS_MAX 20
#define JL_IMPORT_FORMATS_MAX 16

/* Bytes as read(2) gives them: 0 at the end, -1 with errno. */
struct jl_import_reader {
	ssize_t (*read)(void *ctx, void *buf, size_t size);
	void *ctx;
};

extern const char *const jl_import_collectives[]; /* in the order of enum jl_collective_kind, then others */

struct jl_import_options {
	const char *name;    /* the source in "name:line"; NULL: "-" */
	double time_s;       /* of records whose source has no time; NAN: now */
	const char *kind;    /* which collective it is, where the output does not say; NULL: not known */
	const char *pattern; /* form of the lines of a training log (see pattern.h); NULL: none */
	const char *machine, *machine_name, *note, *run; /* go into every record; NULL: none */
};

struct jl_run_step;
struct jl_run_pause;
struct jl_import_sink {
	/* The record is valid during the call. What it returns other than JL_OK ends the import. */
	enum jl_status (*record)(void *ctx, const struct jl_record *record, struct jl_err *err);
	void (*remark)(void *ctx, size_t line, const char *text); /* may be NULL; line 0: the whole */
	/* Of training logs, each line as it comes; may be NULL. Valid during the call. */
	void (*step)(void *ctx, const struct jl_run_step *step);
	void (*pause)(void *ctx, const struct jl_run_pause *pause);
	void *ctx;
};

struct jl_import_count {
	size_t n_lines, n_records;
	size_t n_dropped; /* lines and documents that were recognised but not taken; each has a remark, up to the limit
			   */
	double size_B;
	const char *formats[JL_IMPORT_FORMATS_MAX]; /* what was recognised */
	size_t n_formats;
};

/* JL_E_PARSE where nothing was recognised: the message lists what is known. */
enum jl_status jl_import_stream(const struct jl_import_reader *reader, const struct jl_import_options *options,
				const struct jl_import_sink *sink, struct jl_import_count *ret_count,
				struct jl_err *err);
/* A file, or "-" for standard input. Where options->name is NULL the path is the name; where its time is NAN, the file's is taken. */
enum jl_status jl_import_file(const char *path, const struct jl_import_options *options,
			      const struct jl_import_sink *sink, struct jl_import_count *ret_count, struct jl_err *err);

/* One line for each format, for help and messages; NULL-terminated. */
extern const char *const jl_import_known[];
