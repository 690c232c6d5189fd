#include "check/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

#define SIDE_MAX 72

/* A device is odd if its rate is below this share of the median; the others must lie this close to it, and be this many: tables with several
 * kinds of paths are skipped. */
static const double odd_frac = 0.8, near_frac = 0.08, alike_least = 0.6;

struct device {
	double cells[2 * SIDE_MAX];
	size_t n;
};

static void take(struct device *d, double value)
{
	if (d->n < JL_LEN(d->cells))
		d->cells[d->n++] = value;
}

/* Collects cells by the devices of row and column; for a single row, by the column's device. */
static size_t read_cells(struct device devices[SIDE_MAX], const struct jl_record *record)
{
	const double rows = jl_record_number(record, "n_rows"), columns = jl_record_number(record, "n_columns");

	if (!(columns >= 3 && columns <= SIDE_MAX) || (rows != 1 && rows != columns))
		return 0;
	for (int r = 0; r < (int)rows; r++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "row_%d", r);
		const char *at = jl_record_text(record, key);

		for (int c = 0; at && *at && c < (int)columns; c++) {
			char *end;
			const double value = strtod(at, &end);

			if (end > at && value > 0) {
				take(&devices[c], value);
				if (rows > 1)
					take(&devices[r], value);
			}
			at += strcspn(at, " ");
			at += strspn(at, " ");
		}
	}
	return (size_t)columns;
}

bool jl_check_cells(struct jl_bitext *ret_cause, double *ret_worst_Bps, const struct jl_record *record)
{
	struct device devices[SIDE_MAX] = { 0 };
	double medians[SIDE_MAX], sorted[SIDE_MAX];
	const size_t n = read_cells(devices, record);
	size_t n_alike = 0, n_odd = 0;
	char names[120] = "", one[40];

	for (size_t i = 0; i < n; i++) {
		if (!devices[i].n)
			return false;
		medians[i] = sorted[i] = jl_stats_median(devices[i].cells, devices[i].n);
	}
	if (!n)
		return false;
	const double middle = jl_stats_median(sorted, n);

	*ret_worst_Bps = 1e9 * sorted[0];
	for (size_t i = 0; i < n; i++) {
		n_alike += fabs(medians[i] - middle) <= near_frac * middle;
		if (medians[i] >= odd_frac * middle)
			continue;
		(void)snprintf(one, sizeof(one), "%sGPU %zu: %.4g GB/s", n_odd++ ? ", " : "", i, medians[i]);
		if (strlen(names) + strlen(one) < sizeof(names))
			(void)strcat(names, one); /* NOLINT: it fits */
	}
	if (!n_odd || (double)n_alike < alike_least * (double)n)
		return false;
	jl_msg_print(ret_cause->en, ret_cause->text, sizeof(ret_cause->en), JL_N("%s, where the others reach %.4g"),
		     names, middle);
	return true;
}
