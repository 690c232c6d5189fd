/* The networks that are no plain transformers, as the catalog commands show them. */
#include <string.h>

#include "cli/view.h"
#include "predict/count.h"

static double gmac(const struct jl_convnet *net)
{
	struct jl_counts counts;

	jl_count_convnet(&counts, net, 1);
	return counts.total.fwd_flop / 2 / 1e9;
}

void jl_view_convnet_json(struct jl_json *json, const struct jl_convnet *net)
{
	jl_json_object(json);
	jl_json_put_string(json, "record", "network");
	jl_json_put_string(json, "id", net->id);
	jl_json_put_string(json, "name", net->name);
	jl_json_put_number(json, "params", net->n_params);
	jl_json_put_number(json, "fwd_mac_per_item", gmac(net) * 1e9);
	jl_json_put_string(json, "item", net->item);
	jl_json_put_string(json, "unit", net->unit);
	jl_json_put_number(json, "units_per_item", net->units_per_item);
	jl_json_put_string(json, "source", net->source);
	jl_json_end_object(json);
}

void jl_view_convnet(struct jl_cli *cli, const struct jl_convnet *net)
{
	char params[JL_UNITS_TEXT_MAX];
	struct jl_json json;

	if (cli->json) {
		jl_json_init(&json, &cli->out, true);
		jl_view_convnet_json(&json, net);
		jl_json_finish(&json);
		return;
	}
	jl_buf_printf(&cli->out, "%s%s%s  (%s)\n\n", jl_view_bold(cli), net->name, jl_view_reset(cli), net->id);
	jl_buf_printf(&cli->out, JL_("  parameters: %s\n"), jl_view_value(params, net->n_params, JL_K_NUMBER, false));
	jl_buf_printf(&cli->out, JL_("  forward: %.4g GMAC per %s\n"), gmac(net), net->item);
	jl_buf_printf(&cli->out, JL_("  throughput counts: %s, %.4g per %s\n"), net->unit, net->units_per_item,
		      net->item);
	if (net->source)
		jl_view_wrapped(cli, 2, JL_("source"), net->source);
}

enum jl_status jl_view_convnets(struct jl_cli *cli, const struct jl_convnet_list *list, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("other networks") },
		{ .head = JL_("parameters"), .align = JL_RIGHT },
		{ .head = "GMAC", .align = JL_RIGHT },
		{ .head = JL_("per"), .flexible = true },
	};
	char params[JL_UNITS_TEXT_MAX];
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, 4);
	for (size_t i = 0; i < list->n_nets; i++) {
		const struct jl_convnet *net = &list->nets[i];

		jl_table_cell(&table, net->id);
		jl_table_cell(&table, jl_view_value(params, net->n_params, JL_K_NUMBER, false));
		jl_table_printf(&table, "%.4g", gmac(net));
		jl_table_cell(&table, net->item);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 0, err);
}

enum jl_status jl_cli_convnets(struct jl_convnet_list *ret_list, struct jl_cli *cli, struct jl_err *err)
{
	return jl_convnets(ret_list, cli->cat, &cli->arena, err);
}

bool jl_convnet_has_words(const struct jl_convnet *net, const char *const *words, size_t n_words)
{
	for (size_t w = 0; w < n_words; w++) {
		bool found = strcasestr(net->id, words[w]) || strcasestr(net->name, words[w]);

		for (size_t a = 0; a < net->n_aliases && !found; a++)
			found = strcasestr(net->aliases[a], words[w]) != NULL;
		if (!found)
			return false;
	}
	return true;
}
