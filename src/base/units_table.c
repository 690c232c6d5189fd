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
	[JL_K_NUMBER] = { "a plain number", "단위 없는 수", "4", "", "", one },
	[JL_K_FRACTION] = { "a fraction", "비율", "0.15 or 15 %", "frac", "", percent },
	[JL_K_BYTES] = { "a size in bytes", "바이트 크기", "80 GiB or 80 GB", "B", "B", large },
	[JL_K_BYTE_RATE] = { "a data rate", "전송 속도", "900 GB/s or 400 Gb/s", "Bps", "B/s", large },
	[JL_K_TIME] = { "a time", "시간", "1.06 s, 29 ms or 300 d", "s", "", duration },
	[JL_K_FREQUENCY] = { "a frequency", "주파수", "1980 MHz", "Hz", "Hz", large },
	[JL_K_FLOP] = { "an amount of arithmetic", "연산량", "4.09 GFLOP", "flop", "FLOP", large },
	[JL_K_FLOP_RATE] = { "an arithmetic rate", "연산 속도", "19.5 TFLOP/s", "flopps", "FLOP/s", large },
	[JL_K_OP_RATE] = { "an integer operation rate", "정수 연산 속도", "624 TOP/s", "opps", "OP/s", large },
	[JL_K_POWER] = { "a power", "전력", "350 W", "W", "W", power },
	[JL_K_ENERGY] = { "an energy", "에너지", "591 kWh", "J", "", energy },
	[JL_K_LENGTH] = { "a length", "길이", "336 mm", "m", "", length },
	[JL_K_MASS] = { "a mass", "질량", "430 g", "g", "", mass },
	[JL_K_USD] = { "an amount of US dollars", "달러 금액", "2200 USD", "usd", "USD", one },
	[JL_K_KRW] = { "an amount of won", "원화 금액", "71269 KRW or 190만원", "krw", "KRW", one },
	[JL_K_MONEY] = { "an amount of money", "금액", "2200 USD or 190만원", "money", "", one },
	[JL_K_USD_RATE] = { "a rent", "사용료", "2.14 USD/h", "usdps", "USD", per_hour },
	[JL_K_USD_ENERGY] = { "an energy price in US dollars", "달러 전력 단가", "0.12 USD/kWh", "usdpJ", "USD",
			      per_kWh },
	[JL_K_KRW_ENERGY] = { "an energy price in won", "원화 전력 단가", "120 KRW/kWh", "krwpJ", "KRW", per_kWh },
	[JL_K_MASS_ENERGY] = { "a mass per energy", "에너지당 질량", "430.6 g/kWh", "gpJ", "g", per_kWh },
	[JL_K_COUNT_RATE] = { "a count per time", "시간당 개수", "27.4 samples/s", "ps", "/s", one },
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
