/* Builds records and generates their ids. */
#include "record/record.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

void jl_draft_begin(struct jl_draft *draft, const char *kind, const char *backend, size_t line, const char *text)
{
	/* set only the headers: array elements are set when used */
	draft->kind = kind;
	draft->backend = backend;
	draft->time_s = NAN;
	draft->line = draft->last_line = line;
	draft->text = text;
	draft->n_params = draft->n_metrics = draft->n_versions = draft->n_samples = 0;
	draft->samples_s = NULL;
	draft->second = false;
}

void jl_draft_number(struct jl_draft *draft, const char *key, double value)
{
	if (isfinite(value) && draft->n_params < JL_DRAFT_PARAMS_MAX)
		draft->params[draft->n_params++] = (struct jl_record_item){ .key = key, .number = value };
}

void jl_draft_text(struct jl_draft *draft, const char *key, const char *text)
{
	if (text && *text && draft->n_params < JL_DRAFT_PARAMS_MAX)
		draft->params[draft->n_params++] = (struct jl_record_item){ .key = key, .text = text, .number = NAN };
}

void jl_draft_version(struct jl_draft *draft, const char *key, const char *text)
{
	if (text && *text && draft->n_versions < JL_LEN(draft->versions))
		draft->versions[draft->n_versions++] =
			(struct jl_record_item){ .key = key, .text = text, .number = NAN };
}

void jl_draft_summary(struct jl_draft *draft, const char *name, bool less_is_better, const struct jl_stats *summary)
{
	if (isfinite(summary->median) && draft->n_metrics < JL_DRAFT_METRICS_MAX)
		draft->metrics[draft->n_metrics++] =
			(struct jl_record_metric){ .name = name, .less_is_better = less_is_better, .value = *summary };
}

void jl_draft_metric(struct jl_draft *draft, const char *name, bool less_is_better, double value)
{
	struct jl_stats summary = jl_summary_of(value);

	if (value > 0)
		jl_draft_summary(draft, name, less_is_better, &summary);
}

struct jl_record jl_draft_record(const struct jl_draft *draft)
{
	return (struct jl_record){ .kind = draft->kind,
				   .backend = draft->backend,
				   .time_s = draft->time_s,
				   .params = draft->params,
				   .n_params = draft->n_params,
				   .metrics = draft->metrics,
				   .n_metrics = draft->n_metrics,
				   .versions = draft->versions,
				   .n_versions = draft->n_versions,
				   .samples_s = draft->samples_s,
				   .n_samples = draft->n_samples,
				   .noise = jl_record_noise_unknown() };
}

static const char crockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* Writes 128 bits in Crockford base 32: 48 bits of milliseconds, 80 other bits; 26 digits of 5 bits, the first has 3. */
static void write_id(char ret_id[JL_RECORD_ID_LEN + 1], uint64_t ms, uint64_t high40, uint64_t low40)
{
	for (size_t i = 0; i < 10; i++)
		ret_id[i] = crockford[ms >> (45 - 5 * i) & 31];
	for (size_t i = 0; i < 8; i++) {
		ret_id[10 + i] = crockford[high40 >> (35 - 5 * i) & 31];
		ret_id[18 + i] = crockford[low40 >> (35 - 5 * i) & 31];
	}
	ret_id[JL_RECORD_ID_LEN] = '\0';
}

#define MASK_40 (((uint64_t)1 << 40) - 1)
#define MASK_48 (((uint64_t)1 << 48) - 1)

enum jl_status jl_record_new_id(char ret_id[JL_RECORD_ID_LEN + 1], struct jl_err *err)
{
	/* Global state: ids within one millisecond count upwards. The low half is always random, so that forked processes never generate the same
	 * id. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t last_ms, last_high;
	struct timespec now;
	uint64_t random[2], ms, high;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return jl_fail(err, JL_E_IO, "no random numbers from the system: {%s}", strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	ms = ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) & MASK_48;
	high = random[0] & (MASK_40 >> 1); /* upper bit 0: leaves a range for counting */
	pthread_mutex_lock(&lock);
	if (ms <= last_ms) { /* same millisecond, or the clock was set back */
		ms = last_ms;
		high = last_high + 1;
		if (high > MASK_40) {
			ms = last_ms + 1;
			high = 0;
		}
	}
	last_ms = ms;
	last_high = high;
	pthread_mutex_unlock(&lock);
	write_id(ret_id, ms, high, random[1] & MASK_40);
	return JL_OK;
}

/* jl_hash with a finaliser, for well-distributed bits. */
static uint64_t hash(const void *data, size_t len)
{
	uint64_t h = jl_hash(JL_HASH_START, data, len);

	h ^= h >> 30;
	h *= 0xbf58476d1ce4e5b9U;
	h ^= h >> 27;
	h *= 0x94d049bb133111ebU;
	return h ^ h >> 31;
}

void jl_record_content_id(char ret_id[JL_RECORD_ID_LEN + 1], double time_s, size_t place, const void *data, size_t len)
{
	double ms = isfinite(time_s) && time_s > 0 ? floor(time_s * 1000 + 0.5) : 0;

	write_id(ret_id, ms < (double)MASK_48 ? (uint64_t)ms : MASK_48, place < MASK_40 ? place : MASK_40,
		 hash(data, len) & MASK_40);
}

bool jl_record_is_id(const char *text)
{
	return strlen(text) == JL_RECORD_ID_LEN && strspn(text, crockford) == JL_RECORD_ID_LEN && text[0] < '8';
}

double jl_record_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct jl_stats jl_summary_unknown(void)
{
	return (struct jl_stats){
		.median = NAN, .mean = NAN, .min = NAN, .max = NAN, .p95 = NAN, .lo95 = NAN, .hi95 = NAN
	};
}

struct jl_stats jl_summary_of(double value)
{
	struct jl_stats s = jl_summary_unknown();

	s.n = 1;
	s.median = value;
	return s;
}

struct jl_record_noise jl_record_noise_unknown(void)
{
	return (struct jl_record_noise){ .cpu_other_frac = NAN,
					 .steal_frac = NAN,
					 .wait_frac = NAN,
					 .clock_frac = NAN,
					 .drift_frac = NAN,
					 .quota_cpus = NAN,
					 .n_cpus = NAN,
					 .throttled_frac = NAN,
					 .clock_Hz = NAN,
					 .clock_max_Hz = NAN,
					 .limit_W = NAN,
					 .limit_default_W = NAN,
					 .neighbour_B = NAN };
}

const struct jl_record_item *jl_record_param(const struct jl_record *record, const char *key)
{
	for (size_t i = 0; i < record->n_params; i++)
		if (strcmp(record->params[i].key, key) == 0)
			return &record->params[i];
	return NULL;
}

double jl_record_number(const struct jl_record *record, const char *key)
{
	const struct jl_record_item *item = jl_record_param(record, key);

	return item && !item->text ? item->number : NAN;
}

const char *jl_record_text(const struct jl_record *record, const char *key)
{
	const struct jl_record_item *item = jl_record_param(record, key);

	return item ? item->text : NULL;
}

const struct jl_record_metric *jl_record_metric(const struct jl_record *record, const char *name)
{
	for (size_t i = 0; i < record->n_metrics; i++)
		if (strcmp(record->metrics[i].name, name) == 0)
			return &record->metrics[i];
	return NULL;
}
