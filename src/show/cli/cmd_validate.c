/* jeoul validate: the program's error on published measurements. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "score/scorecard.h"
#include "cli/data_dir.h"
#include "cli/view.h"
#include "topics/validate.h"
#include "version.inc"

#define FILE_MAX_B  ((size_t)256 << 20) /* a million rows; the largest set has 1.2 MB */
#define ARENA_MAX_B ((size_t)32 << 30)  /* a million rows of a large set need several GB */
#define TEXT_MAX_B  ((size_t)64 << 20)

const struct jl_option jl_validate_options[] = {
	JL_O_TEXT("set", "NAME", JL_N("this set only; with files: the set they belong to")),
	JL_O_FLAG("leave-one-group-out", JL_N("refit without each split_group, and score it")),
	JL_O_TEXT("leave-out", "WHAT", JL_N("the same for all rows of a gpu, framework, link, source or codebase"),
		  .apart = "leave-one-group-out"),
	JL_O_COUNT("worst", "N", 1, 100000, JL_N("the N worst rows of each set, with the breakdown of their time")),
	JL_O_FLAG("all", JL_N("each set by GPU, framework and link, and what is not scored and why")),
	JL_O_TEXT("card", "DIR", JL_N("write the score card (page, plots, history) to DIR"), .local = true),
	{ 0 },
};

static enum jl_status add_file(struct jl_validation *v, const char *path, const char *name, const char *set,
			       struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status;

	JL_TRY(jl_buf_read_own(&text, path, FILE_MAX_B, err));
	status = jl_validation_add(v, name, jl_buf_text(&text), text.len, set, err);
	jl_buf_release(&text);
	return status;
}

enum jl_status jl_validate_add_shipped(struct jl_cli *cli, struct jl_validation *v, const char *set, struct jl_err *err)
{
	const struct jl_set_ops *only = set ? jl_set_by_name(set) : NULL;
	const char *dir = jl_data_dir(cli);
	enum jl_status status = JL_OK;

	if (!dir)
		return jl_fail(err, JL_E_NOTFOUND,
			       "the program's measurements are not installed; name the files, or set JEOUL_DATA to "
			       "their folder");
	for (const struct jl_set_ops *const *ops = jl_sets; *ops && !status; ops++) {
		for (const char *const *file = (*ops)->files; *file && !status; file++) {
			const char *path = jl_arena_printf(&cli->arena, "%s/%s.csv", dir, *file);

			if ((only && *ops != only) || !path || access(path, F_OK) != 0)
				continue;
			status = add_file(v, path, strrchr(path, '/') + 1, NULL, err);
		}
	}
	if (!status && v->n_files == 0)
		return jl_fail(err, JL_E_NOTFOUND,
			       "no measurements in %s; name the files, or set JEOUL_DATA to the folder that has them",
			       dir);
	return status;
}

static enum jl_status known_set(const char *set, struct jl_err *err)
{
	const char *names[JL_VALIDATE_LINES_MAX], *nearest;
	char all[600];
	size_t n = 0;

	if (!set || jl_set_by_name(set))
		return JL_OK;
	for (const struct jl_set_ops *const *ops = jl_sets; *ops; ops++)
		for (const char *const *file = (*ops)->files; *file; file++)
			names[n++] = *file;
	nearest = jl_nearest_name(set, names, n);
	if (nearest)
		return jl_fail(err, JL_E_USAGE, "no set '%s'; did you mean '%s'?", set, nearest);
	for (size_t i = 0, at = 0; i < n && at < sizeof(all); i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", names[i]);
	return jl_fail(err, JL_E_USAGE, "no set '%s'; there are %s", set, all);
}

static enum jl_status read_leave_out(struct jl_cli *cli, bool card, enum jl_leave_out *ret_leave_out,
				     struct jl_err *err)
{
	/* in the order of enum jl_leave_out */
	static const char *const words[] = {
		"nothing", "group", "gpu", "framework", "link", "source", "codebase", NULL
	};
	const char *text = jl_text(cli, "leave-out");
	const int said = jl_chosen(cli, "leave-out", words);

	if (text && card)
		return jl_fail(err, JL_E_USAGE, "give --%s or --%s, not both", "leave-out", "card");
	if (text && said < 1)
		return jl_fail(err, JL_E_USAGE, "--leave-out '%s': group, gpu, framework, link, source or codebase",
			       text);
	*ret_leave_out = text                                  ? (enum jl_leave_out)said
			 : card                                ? JL_LEAVE_SOURCE
			 : jl_flag(cli, "leave-one-group-out") ? JL_LEAVE_GROUP
							       : JL_LEAVE_NOTHING;
	return JL_OK;
}

static enum jl_status run(struct jl_cli *cli, struct jl_validation *v, struct jl_arena *arena,
			  enum jl_leave_out leave_out, struct jl_err *err)
{
	const char *set = jl_text(cli, "set");
	struct jl_view_sets sets = { .cli = cli };
	enum jl_status status = known_set(set, err);

	jl_validation_init(v, cli->cat, arena);
	for (size_t i = 0; i < cli->args.n_operands && !status; i++)
		status = add_file(v, cli->args.operands[i], cli->args.operands[i], set, err);
	JL_THEN(status, cli->args.n_operands == 0 ? jl_validate_add_shipped(cli, v, set, err) : JL_OK);
	JL_THEN(status, jl_validation_run(v,
					  &(struct jl_validate_options){
						  .leave_out = leave_out, .progress = jl_view_set, .ctx = &sets },
					  err));
	jl_progress_clear(&sets.progress);
	return status;
}

static enum jl_status write_plots(struct jl_cli *cli, const struct jl_validation *v, const char *dir,
				  struct jl_err *err)
{
	const char *folder = jl_arena_printf(&cli->arena, "%s/scorecard", dir);
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(folder, err));
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return jl_fail(err, JL_E_IO, "%s: {%s}", folder, strerror(errno));
	for (size_t i = 0; i < v->n_lines && !status; i++) {
		const char *path = jl_arena_printf(&cli->arena, "%s/%s.svg", folder, v->lines[i].set);
		struct jl_buf svg;

		jl_buf_init(&svg, TEXT_MAX_B);
		if (!path)
			status = jl_fail_nomem(err);
		else if (jl_scorecard_svg(&svg, &v->lines[i]))
			status = jl_buf_write_file(&svg, path, err);
		jl_buf_release(&svg);
	}
	return status;
}

static enum jl_status write_card(struct jl_cli *cli, const struct jl_scorecard *card, const char *dir,
				 struct jl_err *err)
{
	const char *history_path = jl_arena_printf(&cli->arena, "%s/scorecard-history.csv", dir);
	const char *page_path = jl_arena_printf(&cli->arena, "%s/SCORECARD.md", dir);
	struct jl_buf old, history, page;
	enum jl_status status = JL_OK;

	JL_TRY(jl_got(history_path && page_path, err));
	jl_buf_init(&old, TEXT_MAX_B);
	jl_buf_init(&history, TEXT_MAX_B);
	jl_buf_init(&page, TEXT_MAX_B);
	if (access(history_path, F_OK) == 0)
		status = jl_buf_read_file(&old, history_path, TEXT_MAX_B, err);
	JL_THEN(status, jl_scorecard_history(&history, card, jl_buf_text(&old), err));
	JL_THEN(status, jl_scorecard_markdown(&page, card, jl_buf_text(&history), err));
	JL_THEN(status, write_plots(cli, card->by_source, dir, err));
	JL_THEN(status, jl_buf_write_file(&history, history_path, err));
	JL_THEN(status, jl_buf_write_file(&page, page_path, err));
	jl_buf_release(&old);
	jl_buf_release(&history);
	jl_buf_release(&page);
	return status;
}

static enum jl_status show(struct jl_cli *cli, const struct jl_validation *v, struct jl_err *err)
{
	struct jl_validated result = { .v = v,
				       .set = jl_text(cli, "set"),
				       .n_worst = (size_t)jl_whole(cli, "worst", 0),
				       .all = jl_flag(cli, "all") || jl_text(cli, "set") || cli->args.n_operands };
	struct jl_unscored *unscored;

	JL_TRY(jl_validate_unscored(v, &unscored, &result.n_unscored, err));
	result.unscored = unscored;
	JL_ANSWER(cli, err, &jl_validated_fields, &result, jl_show_validated(&doc, &result));
}

enum jl_status jl_cmd_validate(struct jl_cli *cli, struct jl_err *err)
{
	const char *card_dir = jl_text(cli, "card");
	enum jl_leave_out leave_out = JL_LEAVE_NOTHING;
	struct jl_validation *v;
	struct jl_arena arena;
	enum jl_status status;

	jl_arena_init(&arena, ARENA_MAX_B);
	v = jl_arena_array(&arena, 4, sizeof(*v));
	status = v ? read_leave_out(cli, card_dir != NULL, &leave_out, err) : jl_fail_nomem(err);
	JL_THEN(status, run(cli, &v[0], &arena, leave_out, err));
	if (card_dir) {
		JL_THEN(status, run(cli, &v[1], &arena, JL_LEAVE_GROUP, err));
		JL_THEN(status, run(cli, &v[2], &arena, JL_LEAVE_NOTHING, err));
		JL_THEN(status, run(cli, &v[3], &arena, JL_LEAVE_CODE, err));
		JL_THEN(status, write_card(cli,
					   &(struct jl_scorecard){ .version = JEOUL_VERSION,
								   .by_source = &v[0],
								   .by_group = &v[1],
								   .by_code = &v[3],
								   .shipped = &v[2] },
					   card_dir, err));
	}
	JL_THEN(status, show(cli, v, err));
	jl_arena_release(&arena);
	return status;
}
