/* jeoul-publishedc IN.csv OUT.csv: extracts the columns that verdicts use. Runs at build time. */
#include <stdio.h>

#include "base/csv.h"
#include "check/published_columns.h"

static const char *const names[JL_N_PUB] = {
	[JL_PUB_COLLECTIVE] = "collective",
	[JL_PUB_BYTES] = "bytes",
	[JL_PUB_N_GPUS] = "n_gpus",
	[JL_PUB_N_NODES] = "n_nodes",
	[JL_PUB_GPU] = "gpu",
	[JL_PUB_INTRA] = "intra_link",
	[JL_PUB_INTER] = "inter_link",
	[JL_PUB_LATENCY] = "latency_us",
	[JL_PUB_ALGBW] = "algbw_GBps",
	[JL_PUB_BUSBW] = "busbw_GBps",
	[JL_PUB_TOOL] = "tool",
};

#define FILE_MAX_B ((size_t)1 << 26)

static enum jl_status shorten(struct jl_buf *out, struct jl_csv *csv, struct jl_err *err)
{
	size_t at[JL_N_PUB];
	struct jl_csv_writer writer;
	enum jl_status status = JL_OK;
	bool more = true;

	jl_csv_writer_init(&writer, out);
	for (size_t i = 0; i < JL_N_PUB && !status; i++) {
		status = jl_csv_need(csv, names[i], &at[i], err);
		jl_csv_put_text(&writer, names[i]);
	}
	jl_csv_end_row(&writer);
	while (!status) {
		status = jl_csv_next(csv, &more, err);
		if (status || !more)
			break;
		for (size_t i = 0; i < JL_N_PUB; i++)
			jl_csv_put_text(&writer, jl_csv_text(csv, at[i]));
		jl_csv_end_row(&writer);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct jl_err err = { .en = "jeoul-publishedc IN.csv OUT.csv" };
	struct jl_buf text, out;
	struct jl_csv csv;
	enum jl_status status = argc == 3 ? jl_buf_read_file(&text, argv[1], FILE_MAX_B, &err) : JL_E_USAGE;

	jl_buf_init(&out, FILE_MAX_B);
	if (!status) {
		status = jl_csv_open(&csv, jl_buf_text(&text), text.len, argv[1], &err);
		jl_buf_release(&text);
	}
	if (!status) {
		status = shorten(&out, &csv, &err);
		jl_csv_release(&csv);
	}
	JL_THEN(status, jl_buf_write_file(&out, argv[2], &err));
	jl_buf_release(&out);
	if (status)
		(void)fprintf(stderr, "%s\n", err.en);
	return status != JL_OK;
}
