/* Table of the kinds of quantities and their units for printing. */
#include "base/units_table.h"

#define END                                                                                                            \
	{                                                                                                              \
		.size = 0                                                                                              \
	}

static const struct jl_units_rung one[] = { { "", 1, 0 }, END };
static const struct jl_units_rung percent[] = { { "%", 0.01, 0 }, END };
static const struct jl_units_rung per_hour[] = { { "/h", 1 / JL_HOUR_S, 0 }, END };
static const struct jl_units_rung per_kWh[] = { { "/kWh", 1 / JL_KWH_J, 0 }, END };
static const struct jl_units_rung large[] = { { "", 1, 0 },     { "k", 1e3, 1 },  { "M", 1e6, 1 },  { "G", 1e9, 1 },
					      { "T", 1e12, 1 }, { "P", 1e15, 1 }, { "E", 1e18, 1 }, END };
static const struct jl_units_rung power[] = {
	{ "m", 1e-3, 0 }, { "", 1, 1 }, { "k", 1e3, 1 }, { "M", 1e6, 1 }, { "G", 1e9, 1 }, { "T", 1e12, 1 }, END
};
static const struct jl_units_rung energy[] = { { "mJ", 1e-3, 0 },
					       { "J", 1, 1 },
					       { "kJ", 1e3, 1 },
					       { "kWh", JL_KWH_J, 0.1 },
					       { "MWh", JL_KWH_J * 1e3, 1 },
					       { "GWh", JL_KWH_J * 1e6, 1 },
					       { "TWh", JL_KWH_J * 1e9, 1 },
					       END };
static const struct jl_units_rung duration[] = { { "ns", 1e-9, 0 },    { "µs", 1e-6, 1 },     { "ms", 1e-3, 1 },
						 { "s", 1, 1 },        { "min", 60, 2 },      { "h", JL_HOUR_S, 1 },
						 { "d", JL_DAY_S, 2 }, { "y", JL_YEAR_S, 2 }, END };
static const struct jl_units_rung length[] = { { "nm", 1e-9, 0 }, { "µm", 1e-6, 1 }, { "mm", 1e-3, 1 },
					       { "m", 1, 1 },     { "km", 1e3, 1 },  END };
static const struct jl_units_rung mass[] = { { "mg", 1e-3, 0 }, { "g", 1, 1 }, { "kg", 1e3, 1 }, { "t", 1e6, 1 }, END };

static const struct jl_kind_row rows[JL_N_KIND] = {
	[JL_K_NUMBER] = { JL_N("a plain number"), "4", "", "", one },
	[JL_K_FRACTION] = { JL_N("a fraction"), "0.15, 15 %", "frac", "", percent },
	[JL_K_BYTES] = { JL_N("a size in bytes"), "80 GiB, 80 GB", "B", "B", large },
	[JL_K_BYTE_RATE] = { JL_N("a data rate"), "900 GB/s, 400 Gb/s", "Bps", "B/s", large },
	[JL_K_TIME] = { JL_N("a time"), "1.06 s, 29 ms, 300 d", "s", "", duration },
	[JL_K_FREQUENCY] = { JL_N("a frequency"), "1980 MHz", "Hz", "Hz", large },
	[JL_K_FLOP] = { JL_N("an amount of arithmetic"), "4.09 GFLOP", "flop", "FLOP", large },
	[JL_K_FLOP_RATE] = { JL_N("an arithmetic rate"), "19.5 TFLOP/s", "flopps", "FLOP/s", large },
	[JL_K_OP_RATE] = { JL_N("an integer operation rate"), "624 TOP/s", "opps", "OP/s", large },
	[JL_K_POWER] = { JL_N("a power"), "350 W", "W", "W", power },
	[JL_K_ENERGY] = { JL_N("an energy"), "591 kWh", "J", "", energy },
	[JL_K_LENGTH] = { JL_N("a length"), "336 mm", "m", "", length },
	[JL_K_MASS] = { JL_N("a mass"), "430 g", "g", "", mass },
	[JL_K_USD] = { JL_N("an amount of US dollars"), "2200 USD", "usd", "USD", one },
	[JL_K_KRW] = { JL_N("an amount of won"), "71269 KRW, 190만원", "krw", "KRW", one },
	[JL_K_MONEY] = { JL_N("an amount of money"), "2200 USD, 190만원", "money", "", one },
	[JL_K_USD_RATE] = { JL_N("a rent"), "2.14 USD/h", "usdps", "USD", per_hour },
	[JL_K_USD_ENERGY] = { JL_N("an energy price in US dollars"), "0.12 USD/kWh", "usdpJ", "USD", per_kWh },
	[JL_K_KRW_ENERGY] = { JL_N("an energy price in won"), "120 KRW/kWh", "krwpJ", "KRW", per_kWh },
	[JL_K_MASS_ENERGY] = { JL_N("a mass per energy"), "430.6 g/kWh", "gpJ", "g", per_kWh },
	[JL_K_COUNT_RATE] = { JL_N("a count per time"), "27.4 samples/s", "ps", "/s", one },
};

const struct jl_kind_row *jl_kind_row(enum jl_kind kind)
{
	return &rows[(size_t)kind < JL_N_KIND ? kind : JL_K_NUMBER];
}

const char *jl_kind_suffix(enum jl_kind kind)
{
	return jl_kind_row(kind)->suffix;
}

const char *jl_kind_example(enum jl_kind kind)
{
	return jl_kind_row(kind)->example;
}
