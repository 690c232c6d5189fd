/* What a person sees of `jeoul cost`. */
#ifndef JL_CLI_COST_VIEW_H
#define JL_CLI_COST_VIEW_H

#include "cli/command.h"
#include "cost/study.h"

struct jl_cost_said { /* what was not said and had to be assumed */
	bool util, power_price, carbon_region;
	const char *carbon_name;
};

enum jl_status jl_cost_view(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed,
			    struct jl_err *err);
void jl_cost_json(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed);

/* One month's electricity bill by itself. */
enum jl_status jl_cost_bill_view(struct jl_cli *cli, const char *tariff, const struct jl_tariff_use *use,
				 const struct jl_bill *bill, struct jl_err *err);

/* "0.12 USD/kWh", "150 KRW/kWh"; cmd_cost.c. */
enum jl_status jl_cost_read_kwh(struct jl_money *ret_money, const char *text, struct jl_err *err);

#endif
