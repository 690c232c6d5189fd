/* What the readers of the formats share. Private to src/import. */
#pragma once

#include <jansson.h>

#include "import/import.h"

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
	jl_format_nvbandwidth, jl_format_nvbandwidth_json, jl_format_topo, jl_format_train, jl_format_trainer_json;

const struct jl_import_options *jl_importer_options(const struct jl_importer *imp);
/* One line about what was not taken, or what to look at. `dropped`: count it as not taken. */
void jl_importer_remark(struct jl_importer *imp, size_t line, bool dropped, const char *en, ...)
	__attribute__((format(printf, 4, 5)));
void jl_importer_fail(struct jl_importer *imp, enum jl_status status, const struct jl_err *err);
/* Something of this format was seen, whether or not a record comes of it. */
void jl_importer_seen(struct jl_importer *imp, const char *format);

/* A record in the making. Texts must live until it is emitted. */
#define JL_DRAFT_PARAMS_MAX  200
#define JL_DRAFT_METRICS_MAX 12

struct jl_draft {
	const char *kind, *backend;
	double time_s; /* NAN: the options' */
	size_t line, last_line;
	const char *text; /* the line itself */
	bool second;      /* of two records of one line */
	struct jl_record_item params[JL_DRAFT_PARAMS_MAX];
	size_t n_params;
	struct jl_record_metric metrics[JL_DRAFT_METRICS_MAX];
	size_t n_metrics;
	struct jl_record_item versions[8];
	size_t n_versions;
	const double *samples_s;
	size_t n_samples;
};

void jl_draft_begin(struct jl_draft *draft, const char *kind, const char *backend, size_t line, const char *text);
void jl_draft_number(struct jl_draft *draft, const char *key, double value);   /* NAN: left out */
void jl_draft_text(struct jl_draft *draft, const char *key, const char *text); /* NULL: left out */
void jl_draft_version(struct jl_draft *draft, const char *key, const char *text);
/* Left out where the value is not a positive number. */
void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value);
void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_summary *summary);
void jl_importer_emit(struct jl_importer *imp, const struct jl_draft *draft);

/* Summary of n > 0 samples; sorts them. */
struct jl_summary jl_summarize(double *samples, size_t n);

/* ---- scan.c */

struct jl_number {
	double value;
	double half; /* half a unit of its last digit: what the rounding may hide */
};

/* A plain number that begins at *at: digits, fraction, exponent. Moves *at behind it. No sign, no inf or nan. */
bool jl_scan_number(const char **at, struct jl_number *ret_number);
/* The same, and it must be all of the token. */
bool jl_scan_token(const char *token, struct jl_number *ret_number);
bool jl_scan_whole(const char *token, double *ret_value); /* digits only, at most 15 */
/* Number behind `key` (and blanks) in `text`; what follows must end it (blank, comma, bar, brace, or the end of a whole
 * line). */
bool jl_scan_after(const struct jl_line *line, const char *key, struct jl_number *ret_number);

/* Cut at blanks and tabs, in place. Returns how many; max + 1 when there are more than max. */
size_t jl_scan_split(char *text, char **ret_tokens, size_t max);
