/* Imports fio --output-format=json: one record per job and direction, as `bench storage` writes them. */
#include <math.h>

#include "import/format.h"

static bool emit(struct jl_importer *imp, const json_t *job, const char *test, size_t line)
{
	const json_t *side = json_object_get(job, test), *options = json_object_get(job, "job options");
	const double rate_Bps = jl_scan_json(side, "bw_bytes");
	struct jl_draft draft;

	if (!(isfinite(rate_Bps) && rate_Bps > 0))
		return false;
	jl_draft_begin(&draft, "storage", "fio", line, NULL);
	jl_draft_text(&draft, "test", test);
	jl_draft_text(&draft, "job", json_string_value(json_object_get(job, "jobname")));
	jl_draft_text(&draft, "block", json_string_value(json_object_get(options, "bs")));
	jl_draft_number(&draft, "duration_s", jl_scan_json(side, "runtime") / 1000);
	jl_draft_metric(&draft, "storage_Bps", false, rate_Bps);
	jl_importer_emit(imp, &draft);
	return true;
}

static bool take_json(struct jl_importer *imp, const json_t *root, size_t line)
{
	const json_t *jobs = json_object_get(root, "jobs"), *job;
	size_t i;

	if (!json_is_string(json_object_get(root, "fio version")) || !json_is_array(jobs))
		return false;
	jl_importer_seen(imp, "fio");
	json_array_foreach(jobs, i, job)
	{
		const bool read = emit(imp, job, "read", line), written = emit(imp, job, "write", line);

		if (!read && !written)
			jl_importer_remark(imp, line, true, "dropped: a fio job that moved no data");
	}
	return true;
}

const struct jl_format jl_format_fio = { .name = "fio", .json = take_json };
