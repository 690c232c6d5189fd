/* Units as notes write them, Korean and English. Longest first among those that begin alike, so that the first that fits is the one. */
#include <ctype.h>
#include <string.h>

#include "memo/inside.h"

#define H   3600.0
#define D   86400.0
#define MON (D * 365 / 12)
#define Y   (D * 365)
#define KI  1024.0

/* Case matters only where another unit has the same letters (b and B are told apart; Gb/s is bits). */
static const struct jl_memo_unit units[] = {
	{ "GiB/s", JL_Q_BYTE_RATE, KI *KI *KI },
	{ "MiB/s", JL_Q_BYTE_RATE, KI *KI },
	{ "TiB/s", JL_Q_BYTE_RATE, KI *KI *KI *KI },
	{ "Gbits/s", JL_Q_BYTE_RATE, 1e9 / 8 },
	{ "Gbit/s", JL_Q_BYTE_RATE, 1e9 / 8 },
	{ "Gbps", JL_Q_BYTE_RATE, 1e9 / 8 },
	{ "Gb/s", JL_Q_BYTE_RATE, 1e9 / 8 },
	{ "Tbps", JL_Q_BYTE_RATE, 1e12 / 8 },
	{ "Mbps", JL_Q_BYTE_RATE, 1e6 / 8 },
	{ "Tb/s", JL_Q_BYTE_RATE, 1e12 / 8 },
	{ "GBps", JL_Q_BYTE_RATE, 1e9 },
	{ "TB/sec", JL_Q_BYTE_RATE, 1e12 },
	{ "GB/sec", JL_Q_BYTE_RATE, 1e9 },
	{ "MB/sec", JL_Q_BYTE_RATE, 1e6 },
	{ "TB/s", JL_Q_BYTE_RATE, 1e12 },
	{ "GB/s", JL_Q_BYTE_RATE, 1e9 },
	{ "MB/s", JL_Q_BYTE_RATE, 1e6 },
	{ "KB/s", JL_Q_BYTE_RATE, 1e3 },
	{ "GB/초", JL_Q_BYTE_RATE, 1e9 },
	{ "TB/초", JL_Q_BYTE_RATE, 1e12 },
	{ "TiB", JL_Q_BYTES, KI *KI *KI *KI },
	{ "GiB", JL_Q_BYTES, KI *KI *KI },
	{ "MiB", JL_Q_BYTES, KI *KI },
	{ "KiB", JL_Q_BYTES, KI },
	{ "TB", JL_Q_BYTES, 1e12 },
	{ "GB", JL_Q_BYTES, 1e9 },
	{ "MB", JL_Q_BYTES, 1e6 },
	{ "KB", JL_Q_BYTES, 1e3 },
	{ "kB", JL_Q_BYTES, 1e3 },
	{ "기가바이트", JL_Q_BYTES, 1e9 },
	{ "bytes", JL_Q_BYTES, 1 },
	{ "바이트", JL_Q_BYTES, 1 },
	{ "PFLOP/s", JL_Q_FLOP_RATE, 1e15 },
	{ "TFLOP/s", JL_Q_FLOP_RATE, 1e12 },
	{ "GFLOP/s", JL_Q_FLOP_RATE, 1e9 },
	{ "PFLOPs/s", JL_Q_FLOP_RATE, 1e15 },
	{ "TFLOPs/s", JL_Q_FLOP_RATE, 1e12 },
	{ "TFLOPS/s", JL_Q_FLOP_RATE, 1e12 },
	{ "PFLOPS", JL_Q_FLOP_RATE, 1e15 },
	{ "TFLOPS", JL_Q_FLOP_RATE, 1e12 },
	{ "GFLOPS", JL_Q_FLOP_RATE, 1e9 },
	{ "PFLOPs", JL_Q_FLOP_RATE, 1e15 },
	{ "TFLOPs", JL_Q_FLOP_RATE, 1e12 },
	{ "테라플롭스", JL_Q_FLOP_RATE, 1e12 },
	{ "TFlops", JL_Q_FLOP_RATE, 1e12 },
	{ "TFLOP", JL_Q_FLOP_RATE, 1e12 },
	{ "MWh", JL_Q_ENERGY, 3.6e9 },
	{ "kWh", JL_Q_ENERGY, 3.6e6 },
	{ "KWh", JL_Q_ENERGY, 3.6e6 },
	{ "Wh", JL_Q_ENERGY, 3600 },
	{ "kW", JL_Q_POWER, 1e3 },
	{ "KW", JL_Q_POWER, 1e3 },
	{ "MW", JL_Q_POWER, 1e6 },
	{ "watts", JL_Q_POWER, 1 },
	{ "와트", JL_Q_POWER, 1 },
	{ "W", JL_Q_POWER, 1 },
	{ "GHz", JL_Q_FREQUENCY, 1e9 },
	{ "MHz", JL_Q_FREQUENCY, 1e6 },
	{ "samples/sec", JL_Q_COUNT_RATE, 1 },
	{ "samples/s", JL_Q_COUNT_RATE, 1 },
	{ "sample/s", JL_Q_COUNT_RATE, 1 },
	{ "tokens/second", JL_Q_COUNT_RATE, 1 },
	{ "tokens/sec", JL_Q_COUNT_RATE, 1 },
	{ "tokens/s", JL_Q_COUNT_RATE, 1 },
	{ "token/s", JL_Q_COUNT_RATE, 1 },
	{ "tok/sec", JL_Q_COUNT_RATE, 1 },
	{ "tok/s", JL_Q_COUNT_RATE, 1 },
	{ "images/sec", JL_Q_COUNT_RATE, 1 },
	{ "images/s", JL_Q_COUNT_RATE, 1 },
	{ "img/sec", JL_Q_COUNT_RATE, 1 },
	{ "img/s", JL_Q_COUNT_RATE, 1 },
	{ "imgs/s", JL_Q_COUNT_RATE, 1 },
	{ "it/s", JL_Q_COUNT_RATE, 1 },
	{ "iter/s", JL_Q_COUNT_RATE, 1 },
	{ "steps/s", JL_Q_COUNT_RATE, 1 },
	{ "req/s", JL_Q_COUNT_RATE, 1 },
	{ "requests/s", JL_Q_COUNT_RATE, 1 },
	{ "샘플/초", JL_Q_COUNT_RATE, 1 },
	{ "토큰/초", JL_Q_COUNT_RATE, 1 },
	{ "장/초", JL_Q_COUNT_RATE, 1 },
	{ "milliseconds", JL_Q_TIME, 1e-3 },
	{ "microseconds", JL_Q_TIME, 1e-6 },
	{ "seconds", JL_Q_TIME, 1 },
	{ "second", JL_Q_TIME, 1 },
	{ "secs", JL_Q_TIME, 1 },
	{ "sec", JL_Q_TIME, 1 },
	{ "ms", JL_Q_TIME, 1e-3 },
	{ "µs", JL_Q_TIME, 1e-6 },
	{ "us", JL_Q_TIME, 1e-6 },
	{ "ns", JL_Q_TIME, 1e-9 },
	{ "밀리초", JL_Q_TIME, 1e-3 },
	{ "초", JL_Q_TIME, 1 },
	{ "s", JL_Q_TIME, 1 },
	{ "minutes", JL_Q_TIME, 60 },
	{ "minute", JL_Q_TIME, 60 },
	{ "mins", JL_Q_TIME, 60 },
	{ "min", JL_Q_TIME, 60 },
	{ "분", JL_Q_TIME, 60 },
	{ "hours", JL_Q_TIME, H },
	{ "hour", JL_Q_TIME, H },
	{ "hrs", JL_Q_TIME, H },
	{ "hr", JL_Q_TIME, H },
	{ "h", JL_Q_TIME, H },
	{ "시간", JL_Q_TIME, H },
	{ "days", JL_Q_TIME, D },
	{ "day", JL_Q_TIME, D },
	{ "일", JL_Q_TIME, D },
	{ "weeks", JL_Q_TIME, 7 * D },
	{ "week", JL_Q_TIME, 7 * D },
	{ "주일", JL_Q_TIME, 7 * D },
	{ "months", JL_Q_TIME, MON },
	{ "month", JL_Q_TIME, MON },
	{ "개월", JL_Q_TIME, MON },
	{ "달", JL_Q_TIME, MON },
	{ "years", JL_Q_TIME, Y },
	{ "year", JL_Q_TIME, Y },
	{ "년", JL_Q_TIME, Y },
	{ "percent", JL_Q_PERCENT, 0.01 },
	{ "퍼센트", JL_Q_PERCENT, 0.01 },
	{ "%", JL_Q_PERCENT, 0.01 },
	{ "-fold", JL_Q_RATIO, 1 },
	{ "배속", JL_Q_RATIO, 1 },
	{ "배", JL_Q_RATIO, 1 },
	{ "times", JL_Q_RATIO, 1 },
	{ "x", JL_Q_RATIO, 1 },
	{ "×", JL_Q_RATIO, 1 },
	{ "X", JL_Q_RATIO, 1 },
	{ "억원", JL_Q_KRW, 1e8 },
	{ "억 원", JL_Q_KRW, 1e8 },
	{ "만원", JL_Q_KRW, 1e4 },
	{ "만 원", JL_Q_KRW, 1e4 },
	{ "천원", JL_Q_KRW, 1e3 },
	{ "원", JL_Q_KRW, 1 },
	{ "KRW", JL_Q_KRW, 1 },
	{ "USD/hour", JL_Q_USD_RATE, 1 / H },
	{ "USD/hr", JL_Q_USD_RATE, 1 / H },
	{ "USD/h", JL_Q_USD_RATE, 1 / H },
	{ "USD", JL_Q_USD, 1 },
	{ "달러", JL_Q_USD, 1 },
	{ "dollars", JL_Q_USD, 1 },
	{ "$/hour", JL_Q_USD_RATE, 1 / H },
	{ "$/hr", JL_Q_USD_RATE, 1 / H },
	{ "$/h", JL_Q_USD_RATE, 1 / H },
	{ "$ per hour", JL_Q_USD_RATE, 1 / H },
	{ "$", JL_Q_USD, 1 },
	{ "billion", JL_Q_PARAMS, 1e9 },
	{ "million", JL_Q_PARAMS, 1e6 },
	{ "B", JL_Q_PARAMS, 1e9 },
	{ "M", JL_Q_PARAMS, 1e6 },
	{ "T", JL_Q_PARAMS, 1e12 },
	{ "K", JL_Q_NUMBER, 1e3 },
	{ "k", JL_Q_NUMBER, 1e3 },
	{ "억 개", JL_Q_PARAMS, 1e8 },
	{ "억개", JL_Q_PARAMS, 1e8 },
	{ "억", JL_Q_NUMBER, 1e8 },
	{ "만", JL_Q_NUMBER, 1e4 },
	{ "세대", JL_Q_GENERATION, 1 },
	{ "GPUs", JL_Q_COUNT, 1 },
	{ "GPU", JL_Q_COUNT, 1 },
	{ "nodes", JL_Q_COUNT, 1 },
	{ "node", JL_Q_COUNT, 1 },
	{ "노드", JL_Q_COUNT, 1 },
	{ "개", JL_Q_COUNT, 1 },
	{ "장", JL_Q_COUNT, 1 },
	{ "대", JL_Q_COUNT, 1 },
	{ "회", JL_Q_COUNT, 1 },
};

/* Units of one letter that begin words when they stand apart: "4 s" and "4 h" are times, "4 B" and "8 x" may be anything. */
static bool needs_glue(const struct jl_memo_unit *u)
{
	return strlen(u->spelling) == 1 && !strchr("shW%$", u->spelling[0]);
}

const struct jl_memo_unit *jl_memo_unit_at(const char *text, size_t len, bool glued, size_t *ret_len)
{
	const struct jl_memo_unit *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		const size_t n = strlen(units[i].spelling);
		const unsigned char last = (unsigned char)units[i].spelling[n - 1];

		if (n <= best_len || n > len || units[i].spelling[0] != text[0] ||
		    memcmp(units[i].spelling, text, n) != 0)
			continue;
		/* letters end where the word ends; Korean units are followed by particles */
		if (isalnum(last) && n < len && (isalnum((unsigned char)text[n]) || text[n] == '_'))
			continue;
		if (!glued && needs_glue(&units[i]))
			continue;
		best = &units[i];
		best_len = n;
	}
	*ret_len = best_len;
	return best;
}

const char *jl_qty_unit(enum jl_qty qty)
{
	static const char *const names[JL_N_Q] = {
		[JL_Q_NUMBER] = "",        [JL_Q_PERCENT] = "%",        [JL_Q_RATIO] = "x",          [JL_Q_TIME] = "s",
		[JL_Q_BYTES] = "B",        [JL_Q_BYTE_RATE] = "B/s",    [JL_Q_FLOP_RATE] = "FLOP/s", [JL_Q_POWER] = "W",
		[JL_Q_ENERGY] = "J",       [JL_Q_FREQUENCY] = "Hz",     [JL_Q_USD] = "USD",          [JL_Q_KRW] = "KRW",
		[JL_Q_USD_RATE] = "USD/s", [JL_Q_USD_ENERGY] = "USD/J", [JL_Q_COUNT_RATE] = "/s",    [JL_Q_PARAMS] = "",
		[JL_Q_COUNT] = "",         [JL_Q_GENERATION] = "",
	};

	return (size_t)qty < JL_N_Q && names[qty] ? names[qty] : "";
}
