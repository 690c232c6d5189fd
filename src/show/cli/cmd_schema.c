/* jeoul schema: the JSON schema of a command's output. */
#include <string.h>

#include "catalog/names.h"
#include "cli/command.h"
#include "topics/schemas.h"

enum jl_status jl_cmd_schema(struct jl_cli *cli, struct jl_err *err)
{
	const char *name = cli->args.n_operands ? cli->args.operands[0] : NULL;
	const struct jl_command *c = jl_commands;
	const char *names[64];
	size_t n = 0;

	while (name && c->name && !jl_command_is(c, name))
		c++;
	name = name && c->name ? c->name : name; /* an older name has the same schema */
	for (const struct jl_output_schema *row = jl_output_schemas; row->name; row++) {
		if (!name) {
			jl_buf_printf(&cli->out, "%s\n", row->name);
		} else if (strcmp(row->name, name) == 0) {
			jl_fields_schema(&cli->out, row->schema, &jl_readings_fields,
					 jl_arena_printf(&cli->arena, "jeoul %s --json", row->name));
			return JL_OK;
		}
		if (n < JL_LEN(names))
			names[n++] = row->name;
	}
	if (!name)
		return JL_OK;
	name = jl_nearest_name(name, names, n);
	return jl_fail(err, JL_E_NOTFOUND, "no schema is called '%s'; did you mean %s? 'jeoul schema' lists them",
		       cli->args.operands[0], name ? name : names[0]);
}
