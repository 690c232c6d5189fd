/* Progress line on a terminal. */
#include "base/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "base/utf8.h"

#define INTERVAL_S 0.1
#define LINE_MAX_B 512
#define BAR_MIN    8
#define BAR_MAX    32
#define BLOCK_B    3 /* bytes of "█" and of "░" in UTF-8 */

static const char wipe[] = "\r\033[K";

void jl_progress_begin(struct jl_progress *progress, const struct jl_progress_options *options)
{
	*progress = (struct jl_progress){ .options = *options, .drawn_s = options->now_s };
	if (!options->write)
		progress->options.on = false;
	if (progress->options.columns == 0)
		progress->options.columns = 80;
	if (!(options->total > 0))
		progress->options.total = NAN;
}

/* "12.3/s" and the remaining time at the mean speed so far, once the mean is stable. */
static void print_speed(char *out, size_t size, const struct jl_progress *progress, double done, double elapsed_s)
{
	char rate[JL_UNITS_TEXT_MAX], eta[JL_UNITS_TEXT_MAX];
	double left = progress->options.total - done;

	out[0] = '\0';
	if (!(elapsed_s > 0) || !(done > 0))
		return;
	jl_units_text(rate, done / elapsed_s, JL_K_COUNT_RATE, 3);
	if (!(left > 0)) {
		snprintf(out, size, "  %s", rate);
		return;
	}
	jl_units_text(eta, left * elapsed_s / done, JL_K_TIME, 2);
	jl_format(out, size, JL_("  %s  %s left"), rate, eta);
}

static void print_bar(char *out, size_t columns, double fraction)
{
	size_t n_full = (size_t)(fraction * (double)columns);

	for (size_t i = 0; i < columns; i++)
		memcpy(out + i * BLOCK_B, i < n_full ? "█" : "░", BLOCK_B);
	out[columns * BLOCK_B] = '\0';
}

static void draw(struct jl_progress *progress, double done, double elapsed_s)
{
	const char *label = progress->options.label ? progress->options.label : "";
	char line[LINE_MAX_B], whole[LINE_MAX_B + sizeof(wipe)], tail[160], bar[BAR_MAX * BLOCK_B + 1], percent[16],
		count[JL_UNITS_TEXT_MAX];
	/* leave the last column free: some terminals wrap when it is written */
	size_t room = progress->options.columns - 1, taken;

	print_speed(tail, sizeof(tail), progress, done, elapsed_s);
	if (isnan(progress->options.total)) {
		snprintf(line, sizeof(line), "%.200s  %s%s", label, jl_units_text(count, done, JL_K_NUMBER, 6), tail);
	} else {
		snprintf(percent, sizeof(percent), "%3d %%", (int)(progress->fraction * 100));
		taken = jl_utf8_width(label) + 2 + 2 + strlen(percent) + jl_utf8_width(tail);
		bar[0] = '\0';
		if (room > taken + BAR_MIN)
			print_bar(bar, room - taken < BAR_MAX ? room - taken : BAR_MAX, progress->fraction);
		snprintf(line, sizeof(line), "%.200s  %s%s%s%s", label, bar, bar[0] ? "  " : "", percent, tail);
	}
	jl_utf8_sanitize(line);
	line[jl_utf8_fit(line, room)] = '\0';
	/* one write, so that the terminal never shows the empty line */
	snprintf(whole, sizeof(whole), "%s%s", wipe, line);
	progress->options.write(progress->options.ctx, whole, strlen(whole));
	progress->visible = true;
}

void jl_progress_update(struct jl_progress *progress, double done, double now_s)
{
	double fraction = done / progress->options.total;

	if (!progress->options.on || now_s - progress->drawn_s < INTERVAL_S)
		return;
	if (fraction > progress->fraction) /* the comparison is false for NAN */
		progress->fraction = fraction < 1 ? fraction : 1;
	progress->drawn_s = now_s;
	draw(progress, done, now_s - progress->options.now_s);
}

void jl_progress_clear(struct jl_progress *progress)
{
	if (progress->visible)
		progress->options.write(progress->options.ctx, wipe, sizeof(wipe) - 1);
	progress->visible = false;
}
