/* Parts lists of a scenario, each checked by the rules of the catalog. */
#include <math.h>

#include "build/findings.h"
#include "report/section.h"

static enum jl_mark mark_of(enum jl_part_level level)
{
	static const enum jl_mark marks[JL_N_PART_LEVEL] = { [JL_PART_OK] = JL_MARK_GOOD,
							     [JL_PART_UNCHECKED] = JL_MARK_UNKNOWN,
							     [JL_PART_CONFLICT] = JL_MARK_WARN,
							     [JL_PART_WARNING] = JL_MARK_WARN,
							     [JL_PART_ERROR] = JL_MARK_BAD };

	return marks[level];
}

static void build(struct jl_section *s, const struct jl_rig *rig, const struct jl_part_findings *found)
{
	const struct jl_num load = jl_num_plain(found->load_W, JL_K_POWER, NULL, JL_ESTIMATED, JL_METHOD);

	jl_doc_para(s->doc);
	jl_doc_strong(s->doc, JL_("Build: "));
	jl_doc_name(s->doc, rig->name ? rig->name : JL_("parts list"));
	if (found->load_W > 0) {
		JL_SAY(s, ". All parts at their limit draw ");
		jl_doc_num(s->doc, &load);
		jl_doc_text(s->doc, ".");
	}
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_part_finding *f = &found->items[i];

		if (f->level == JL_PART_OK || f->level == JL_PART_UNCHECKED)
			continue;
		jl_doc_finding(s->doc, mark_of(f->level), jl_part_level_name(f->level));
		jl_doc_said(s->doc, f->text, f->sure == JL_SURE_MEASURED ? JL_PUBLISHED : JL_LISTED,
			    f->rules[0] ? f->rules[0]->id : NULL);
	}
}

enum jl_status jl_section_builds(struct jl_section *s, struct jl_err *err)
{
	const struct jl_yaml *list = s->w->scenario->builds;
	enum jl_status status = JL_OK;

	if (!list)
		return JL_OK;
	if (list->kind != JL_YAML_LIST)
		return jl_fail_at(err, JL_E_PARSE, &list->where, "builds: a list of parts lists");
	jl_section_open(s, "builds", "Builds");
	for (const struct jl_yaml *item = list->items; !status && item; item = item->next) {
		struct jl_rig rig;
		struct jl_part_findings *found = jl_arena_alloc(s->arena, sizeof *found);

		if (!found)
			return jl_fail_nomem(err);
		if ((status = jl_rig_read(&rig, item, s->w->cat, s->arena, err)))
			break;
		jl_rig_check(found, &rig, s->w->cat);
		build(s, &rig, found);
	}
	return status;
}
