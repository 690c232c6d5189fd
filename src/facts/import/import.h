/* Imports the output of other tools: nccl-tests, OSU, iperf3, nvbandwidth, nvidia-smi, training logs.
 *
 * The format is recognised by content, not by file name. Streams of any length take bounded memory; unknown text is skipped. Incomplete or
 * contradictory data (truncated lines, inconsistent columns, cut matrices) is dropped with a remark. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "record/record.h"

#define JL_IMPORT_LINE_MAX_B  ((size_t)16 << 10) /* longer lines are skipped */
#define JL_IMPORT_JSON_MAX_B  ((size_t)64 << 20) /* a JSON document is read as a whole */
#define JL_IMPORT_REMARKS_MAX 20
#define JL_IMPORT_FORMATS_MAX 16

/* As read(2): 0 at the end, -1 with errno. */
struct jl_import_reader {
	ssize_t (*read)(void *ctx, void *buf, size_t size);
	void *ctx;
};

extern const char *const jl_import_collectives[]; /* in the order of enum jl_collective_kind, then others */

struct jl_import_options {
	const char *name;                                /* source in "name:line"; NULL: "-" */
	double time_s;                                   /* time of records whose source has none; NAN: now */
	const char *kind;                                /* collective, if the output does not name it; NULL: unknown */
	const char *pattern;                             /* line format of a training log (see series.h); NULL: none */
	const char *machine, *machine_name, *note, *run; /* stored in every record; NULL: none */
};

struct jl_run_step;
struct jl_run_pause;
struct jl_import_sink {
	/* The record is valid during the call. Any status other than JL_OK ends the import. */
	enum jl_status (*record)(void *ctx, const struct jl_record *record, struct jl_err *err);
	void (*remark)(void *ctx, size_t line, const char *text); /* may be NULL; line 0: whole input */
	/* Called for every step line of a training log; may be NULL. Valid during the call. */
	void (*step)(void *ctx, const struct jl_run_step *step);
	void (*pause)(void *ctx, const struct jl_run_pause *pause);
	void *ctx;
};

struct jl_import_count {
	size_t n_lines, n_records;
	size_t n_dropped; /* lines and documents recognised but not imported; each has a remark, up to the limit */
	double size_B;
	const char *formats[JL_IMPORT_FORMATS_MAX]; /* names of the recognised formats */
	size_t n_formats;
};

/* JL_E_PARSE if nothing was recognised: the message lists the known formats. */
enum jl_status jl_import_stream(const struct jl_import_reader *reader, const struct jl_import_options *options,
				const struct jl_import_sink *sink, struct jl_import_count *ret_count,
				struct jl_err *err);
/* A file, or "-" for standard input. Defaults: options->name NULL: the path; time NAN: the file's time. */
enum jl_status jl_import_file(const char *path, const struct jl_import_options *options,
			      const struct jl_import_sink *sink, struct jl_import_count *ret_count, struct jl_err *err);

/* One line per format, for help and messages; NULL-terminated. */
extern const char *const jl_import_known[];
