/* Parts lists of a scenario, each checked by the rules of the catalog. */
#include "report/section.h"
#include "tell/build.h"

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

		JL_TRY(jl_got(found, err));
		if ((status = jl_rig_read(&rig, item, s->w->cat, s->arena, err)))
			break;
		jl_rig_check(found, &rig, s->w->cat);
		jl_tell_build(s->doc, &(struct jl_build_answer){ &rig, found }, false);
	}
	return status;
}
