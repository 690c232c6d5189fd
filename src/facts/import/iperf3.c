/* Imports iperf3 -J: one JSON document per run. */
#include <math.h>

#include "base/mem.h"
#include "import/format.h"

#define INTERVALS_MAX 100000

/* Rates of the intervals, without those omitted at the start (-O). NULL: too few. */
static double *interval_rates(const json_t *intervals, size_t *ret_n)
{
	size_t n = json_array_size(intervals), kept = 0, i;
	const json_t *interval;
	double *rates;

	if (n < 3 || n > INTERVALS_MAX)
		return NULL;
	rates = jl_realloc(NULL, n * sizeof(*rates));
	if (!rates)
		return NULL;
	json_array_foreach(intervals, i, interval)
	{
		const json_t *sum = json_object_get(interval, "sum");
		double rate = jl_scan_json(sum, "bits_per_second") / 8;

		if (isfinite(rate) && rate > 0 && !json_is_true(json_object_get(sum, "omitted")))
			rates[kept++] = rate;
	}
	if (kept < 3) {
		jl_free(rates);
		return NULL;
	}
	*ret_n = kept;
	return rates;
}

static void emit(struct jl_importer *imp, const json_t *root, size_t line, double rate_Bps)
{
	const json_t *start = json_object_get(root, "start"), *end = json_object_get(root, "end");
	const json_t *test = json_object_get(start, "test_start");
	struct jl_stats summary = jl_summary_of(rate_Bps);
	struct jl_draft draft;
	size_t n = 0;
	double *rates = interval_rates(json_object_get(root, "intervals"), &n);

	if (rates) {
		summary = jl_summarize(rates, n);
		summary.mean = rate_Bps; /* the receiver's total over the whole run */
		jl_free(rates);
	}
	jl_draft_begin(&draft, "net", "iperf3", line, NULL);
	draft.time_s = jl_scan_json(json_object_get(start, "timestamp"), "timesecs");
	jl_draft_text(&draft, "protocol", json_string_value(json_object_get(test, "protocol")));
	jl_draft_number(&draft, "n_streams", jl_scan_json(test, "num_streams"));
	jl_draft_number(&draft, "duration_s", jl_scan_json(test, "duration"));
	jl_draft_number(&draft, "block_B", jl_scan_json(test, "blksize"));
	jl_draft_text(&draft, "direction", jl_scan_json(test, "reverse") > 0 ? "receive" : "send");
	jl_draft_text(&draft, "host",
		      json_string_value(json_object_get(json_object_get(start, "connecting_to"), "host")));
	jl_draft_number(&draft, "n_retransmits", jl_scan_json(json_object_get(end, "sum_sent"), "retransmits"));
	jl_draft_version(&draft, "iperf3", json_string_value(json_object_get(start, "version")));
	jl_draft_summary(&draft, "net_Bps", false, &summary);
	jl_importer_emit(imp, &draft);
}

static bool take_json(struct jl_importer *imp, const json_t *root, size_t line)
{
	const json_t *start = json_object_get(root, "start"), *end = json_object_get(root, "end");
	const char *error = json_string_value(json_object_get(root, "error"));

	if (!json_is_object(start) || !json_is_object(end) || !json_object_get(root, "intervals"))
		return false;
	jl_importer_seen(imp, "iperf3");
	if (error) {
		jl_importer_remark(imp, line, true, "dropped: iperf3 ended with an error: %s", error);
		return true;
	}
	const json_t *total = json_object_get(end, "sum_received");
	if (!total || !(jl_scan_json(total, "bits_per_second") > 0))
		total = json_object_get(end, "sum"); /* UDP has no sum_received */
	double rate_Bps = jl_scan_json(total, "bits_per_second") / 8;
	if (isfinite(rate_Bps) && rate_Bps > 0)
		emit(imp, root, line, rate_Bps);
	else
		jl_importer_remark(imp, line, true, "dropped: iperf3 says no rate that was received");
	return true;
}

const struct jl_format jl_format_iperf3 = { .name = "iperf3", .json = take_json };
