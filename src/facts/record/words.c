/* Texts of records for display. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "base/utf8.h"
#include "record/record.h"

static const struct {
	const char *end;
	enum jl_kind kind;
} units[] = {
	{ "_Bps", JL_K_BYTE_RATE }, { "_flopps", JL_K_FLOP_RATE }, { "_opps", JL_K_OP_RATE }, { "_flop", JL_K_FLOP },
	{ "_B", JL_K_BYTES },       { "_s", JL_K_TIME },           { "_W", JL_K_POWER },      { "_J", JL_K_ENERGY },
	{ "_Hz", JL_K_FREQUENCY },  { "_frac", JL_K_FRACTION },
};

/* Sizes of messages and buffers are powers of two: 268435456 bytes are shown as 256 MiB. */
static void print_size(char out[JL_RECORD_WORDS_MAX], double size_B)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	for (; size_B >= 1024 && i < 4 && fmod(size_B, 1024) == 0; i++)
		size_B /= 1024;
	if (size_B >= 10000)
		(void)jl_units_text(out, size_B * pow(1024, (double)i), JL_K_BYTES, 3);
	else
		(void)snprintf(out, JL_RECORD_WORDS_MAX, "%g %s", size_B, names[i]);
}

const char *jl_record_value_text(char out[JL_RECORD_WORDS_MAX], const char *name, double value)
{
	if (isnan(value)) {
		(void)snprintf(out, JL_RECORD_WORDS_MAX, "?");
		return out;
	}
	if (jl_ends(name, "_per_s")) {
		(void)snprintf(out, JL_RECORD_WORDS_MAX, "%.4g %.*s/s", value, (int)(strlen(name) - 6), name);
		return out;
	}
	if (strcmp(name, "size_B") == 0) {
		print_size(out, value);
		return out;
	}
	for (size_t i = 0; i < JL_LEN(units); i++) {
		if (!jl_ends(name, units[i].end))
			continue;
		(void)jl_units_text(out, value, units[i].kind, 3);
		return out;
	}
	(void)snprintf(out, JL_RECORD_WORDS_MAX, fabs(value) < 1e15 && floor(value) == value ? "%.0f" : "%.6g", value);
	return out;
}

static void append(char out[JL_RECORD_WORDS_MAX], const char *separator, const char *text)
{
	size_t used = strlen(out);

	if (*text)
		(void)snprintf(out + used, JL_RECORD_WORDS_MAX - used, "%s%s", used ? separator : "", text);
}

const char *jl_record_what(char out[JL_RECORD_WORDS_MAX], const struct jl_record *r)
{
	static const char *const texts[] = { "test",  "direction", "label",   "dtype", "protocol", "host",
					     "model", "precision", "weights", "disk",  "dir" };
	const double m = jl_record_number(r, "m"), n = jl_record_number(r, "n"), k = jl_record_number(r, "k");
	static const struct {
		const char *key, *en;
	} counts[] = { { "n_ranks", JL_N("%.0f rank{/s}") },
		       { "n_gpus", "%.0f GPU" },
		       { "batch", JL_N("batch %.0f") },
		       { "seq", JL_N("sequence %.0f") },
		       { "n_streams", JL_N("%.0f stream{/s}") } };
	const double size_B = jl_record_number(r, "size_B"), device = jl_record_number(r, "device"),
		     peer = jl_record_number(r, "peer");
	char part[JL_RECORD_WORDS_MAX];

	out[0] = '\0';
	if (!isnan(size_B))
		append(out, " ", jl_record_value_text(part, "size_B", size_B));
	if (!isnan(m) && !isnan(n) && !isnan(k)) {
		(void)snprintf(part, sizeof(part), "%.0f×%.0f×%.0f", m, n, k);
		append(out, " ", part);
	}
	if (jl_record_number(r, "n_workers") > 1 && jl_record_text(r, "mode")) {
		(void)snprintf(part, sizeof(part), "%.0f×%.20s", jl_record_number(r, "n_workers"),
			       jl_record_text(r, "mode"));
		append(out, " ", part);
	}
	for (size_t i = 0; i < JL_LEN(texts); i++) {
		const char *text = jl_record_text(r, texts[i]);

		if (text && strcmp(text, r->kind) != 0)
			append(out, " ", text);
	}
	if (!isnan(device)) {
		(void)snprintf(part, sizeof(part), "GPU%.0f", device);
		append(out, " ", part);
	}
	if (!isnan(peer) && peer != device) {
		(void)snprintf(part, sizeof(part), "GPU%.0f", peer);
		append(out, "→", part);
	}
	if (jl_record_number(r, "pinned") == 0)
		append(out, " ", JL_("pageable"));
	for (size_t i = 0; i < JL_LEN(counts); i++)
		if (!isnan(jl_record_number(r, counts[i].key))) {
			(void)jl_format(part, sizeof(part), jl_msg(counts[i].en), jl_record_number(r, counts[i].key));
			append(out, ", ", part);
		}
	if (jl_record_number(r, "both_ways") == 1)
		append(out, ", ", JL_("both ways"));
	if (jl_record_number(r, "in_place") == 1)
		append(out, ", ", JL_("in place"));
	jl_utf8_sanitize(out);
	return out;
}

const char *jl_record_result(char out[JL_RECORD_WORDS_MAX], const struct jl_record *r)
{
	out[0] = '\0';
	if (r->n_metrics)
		(void)jl_record_value_text(out, r->metrics[0].name, r->metrics[0].value.median);
	return out;
}
