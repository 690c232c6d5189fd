/* What the readers of the formats share. Private to src/import. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "import/import.h"
#include "record/record.h"

struct jl_line {
	const char *text; /* without line end, colours and the prefix that mpirun or srun put in front */
	size_t len;
	size_t number; /* from 1 */
	bool torn;     /* the input ended before the line did */
};

struct jl_importer;

/* One row for each in formats.c. A reader that takes a line ends the search for that line. */
struct jl_format {
	const char *name;
	size_t state_B; /* zeroed at the start */
	bool (*line)(struct jl_importer *imp, void *state, const struct jl_line *line);
	bool (*json)(struct jl_importer *imp, const json_t *root, size_t line);
	void (*end)(struct jl_importer *imp, void *state); /* the input is over; also releases what the state holds */
};

extern const struct jl_format *const jl_formats[]; /* NULL-terminated */
extern const struct jl_format jl_format_nccl, jl_format_nccl_json, jl_format_osu, jl_format_iperf3,
	jl_format_nvbandwidth, jl_format_nvbandwidth_json, jl_format_topo, jl_format_train, jl_format_trainer_json,
	jl_format_llama_factory, jl_format_fio;

const struct jl_import_options *jl_importer_options(const struct jl_importer *imp);
/* A remark about a line; `dropped`: count the line as not taken. */
void jl_importer_remark(struct jl_importer *imp, size_t line, bool dropped, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void jl_importer_fail(struct jl_importer *imp, enum jl_status status, const struct jl_err *err);
/* Something of this format was seen, whether or not a record comes of it. */
void jl_importer_seen(struct jl_importer *imp, const char *format);

/* A step or a pause of a training run (import/runlog.h), to who asks for them. */
void jl_importer_step(struct jl_importer *imp, const struct jl_run_step *step);
void jl_importer_pause(struct jl_importer *imp, const struct jl_run_pause *pause);

void jl_importer_emit(struct jl_importer *imp, const struct jl_draft *draft);

/* ---- scan.c */

/* Of n > 0 samples; sorts them. Not jl_stats_of: the id of an imported record comes from its figures, and a log that was imported
 * before must get the same ones. */
struct jl_stats jl_summarize(double *samples, size_t n);

struct jl_number {
	double value;
	double half; /* half a unit of its last digit: what the rounding may hide */
};

/* A plain number that begins at *at: digits, fraction, exponent. Moves *at behind it. No sign, no inf or nan. */
bool jl_scan_number(const char **at, struct jl_number *ret_number);
/* The same, and it must be all of the token. */
bool jl_scan_token(const char *token, struct jl_number *ret_number);
bool jl_scan_whole(const char *token, double *ret_value); /* digits only, at most 15 */
/* Number behind `key` (and blanks) in `text`; what follows must end it (blank, comma, bar, brace, or the end of a whole line). */
bool jl_scan_after(const struct jl_line *line, const char *key, struct jl_number *ret_number);

/* Cut at blanks and tabs, in place. Returns how many; max + 1 when there are more than max. */
size_t jl_scan_split(char *text, char **ret_tokens, size_t max);

/* A number of a JSON object, also one written as text; NAN: none. */
double jl_scan_json(const json_t *object, const char *key);

/* Where a JSON document ends, byte by byte, without keeping it: also tells at once that something is none. */
#define JL_JSON_SCAN_DEPTH_MAX 512

enum jl_json_state { JL_JSON_MORE, JL_JSON_DONE, JL_JSON_BAD };

struct jl_json_scan {
	size_t depth;
	bool in_string, escaped;
	bool started; /* something follows the first brace */
};

enum jl_json_state jl_json_scan(struct jl_json_scan *scan, char c);
