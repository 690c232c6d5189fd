/* Unit spellings in notes, Korean and English; the longest match wins. */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "notes/inside.h"

#define H   3600.0
#define D   86400.0
#define MON (D * 365 / 12)
#define Y   (D * 365)
#define KI  1024.0

/* Case matters only between units with the same letters (b and B; Gb/s is bits). */
static const struct jl_audit_unit units[] = {
	{ JL_Q_BYTE_RATE, KI *KI *KI, "GiB/s" },
	{ JL_Q_BYTE_RATE, KI *KI, "MiB/s" },
	{ JL_Q_BYTE_RATE, KI *KI *KI *KI, "TiB/s" },
	{ JL_Q_BYTE_RATE, 1e9 / 8, "Gbits/s|Gbit/s|Gbps|Gb/s" },
	{ JL_Q_BYTE_RATE, 1e12 / 8, "Tbps|Tb/s" },
	{ JL_Q_BYTE_RATE, 1e6 / 8, "Mbps" },
	{ JL_Q_BYTE_RATE, 1e9, "GBps|GB/sec|GB/s|GB/초" },
	{ JL_Q_BYTE_RATE, 1e12, "TB/sec|TB/s|TB/초" },
	{ JL_Q_BYTE_RATE, 1e6, "MB/sec|MB/s" },
	{ JL_Q_BYTE_RATE, KI, "KiB/s" },
	{ JL_Q_BYTE_RATE, 1e3, "KB/s|kB/s" },
	{ JL_Q_BYTES, KI *KI *KI *KI, "TiB" },
	{ JL_Q_BYTES, KI *KI *KI, "GiB" },
	{ JL_Q_BYTES, KI *KI, "MiB" },
	{ JL_Q_BYTES, KI, "KiB" },
	{ JL_Q_BYTES, 1e12, "TB" },
	{ JL_Q_BYTES, 1e9, "GB|기가바이트" },
	{ JL_Q_BYTES, 1e6, "MB" },
	{ JL_Q_BYTES, 1e3, "KB|kB" },
	{ JL_Q_BYTES, 1, "bytes|바이트" },
	{ JL_Q_FLOP_RATE, 1e15, "PFLOP/s|PFLOPs/s|PFLOPS|PFLOPs" },
	{ JL_Q_FLOP_RATE, 1e12, "TFLOP/s|TFLOPs/s|TFLOPS/s|TFLOPS|TFLOPs|테라플롭스|TFlops|TFLOP" },
	{ JL_Q_FLOP_RATE, 1e9, "GFLOP/s|GFLOPS" },
	{ JL_Q_ENERGY, 3.6e9, "MWh" },
	{ JL_Q_ENERGY, 3.6e6, "kWh|KWh" },
	{ JL_Q_ENERGY, 3600, "Wh" },
	{ JL_Q_POWER, 1e3, "kW|KW" },
	{ JL_Q_POWER, 1e6, "MW" },
	{ JL_Q_POWER, 1, "watts|와트|W" },
	{ JL_Q_FREQUENCY, 1e9, "GHz" },
	{ JL_Q_FREQUENCY, 1e6, "MHz" },
	{ JL_Q_COUNT_RATE, 1,
	  "samples/sec|samples/s|sample/s|tokens/second|tokens/sec|tokens/s|token/s|tok/sec|tok/s|images/sec|images/"
	  "s|img/sec|img/s|imgs/s|it/s|iter/s|steps/s|req/s|requests/s|샘플/초|토큰/초|장/초" },
	{ JL_Q_TIME, 1e-3, "milliseconds|ms|밀리초" },
	{ JL_Q_TIME, 1e-6, "microseconds|µs|us" },
	{ JL_Q_TIME, 1, "seconds|second|secs|sec|초|s" },
	{ JL_Q_TIME, 1e-9, "ns" },
	{ JL_Q_TIME, 60, "minutes|minute|mins|min|분" },
	{ JL_Q_TIME, H, "hours|hour|hrs|hr|h|시간" },
	{ JL_Q_GPU_TIME, H,
	  "GPU-hours|GPU-hour|GPU hours|GPU hour|GPU-hrs|GPU hrs|GPU-h|GPUh|GPU·h|GPU시간|GPU "
	  "시간|GPU-시간|GPU·시간|node-hours|node hours|노드시간|노드 시간|H100-hours|H100 "
	  "hours|H100시간|A100-hours|A100 hours|A100시간" },
	{ JL_Q_GPU_TIME, D, "GPU-days|GPU days|GPU일|GPU-일|A100-days|H100-days" },
	{ JL_Q_TIME, D, "days|day|일|d" },
	{ JL_Q_TIME, 7 * D, "weeks|week|주일" },
	{ JL_Q_TIME, MON, "months|month|개월|달" },
	{ JL_Q_TIME, Y, "years|year|년" },
	{ JL_Q_PERCENT, 0.01, "percent|퍼센트|%" },
	{ JL_Q_RATIO, 1, "-fold|배속|배|times|x|×|X" },
	{ JL_Q_KRW, 1e12, "조원|조 원" },
	{ JL_Q_KRW, 1e11, "천억원|천억 원" },
	{ JL_Q_KRW, 1e10, "백억원|백억 원" },
	{ JL_Q_KRW, 1e9, "십억원|십억 원" },
	{ JL_Q_KRW, 1e8, "억원|억 원" },
	{ JL_Q_KRW, 1e7, "천만원|천만 원" },
	{ JL_Q_KRW, 1e6, "백만원|백만 원" },
	{ JL_Q_KRW, 1e5, "십만원|십만 원" },
	{ JL_Q_KRW, 1e4, "만원|만 원" },
	{ JL_Q_KRW, 1e3, "천원|천 원" },
	{ JL_Q_KRW, 1e2, "백원|백 원" },
	{ JL_Q_KRW, 1, "원|KRW" },
	{ JL_Q_USD_RATE, 1 / H, "USD/hour|USD/hr|USD/h|$/hour|$/hr|$/h|$ per hour" },
	{ JL_Q_USD, 1, "USD|달러|dollars|$" },
	{ JL_Q_PARAMS, 1e9, "billion|B" },
	{ JL_Q_PARAMS, 1e6, "million|M" },
	{ JL_Q_PARAMS, 1e12, "T" },
	{ JL_Q_NUMBER, 1e3, "K|k" },
	{ JL_Q_PARAMS, 1e8, "억 개|억개" },
	{ JL_Q_NUMBER, 1e12, "조" },
	{ JL_Q_NUMBER, 1e11, "천억" },
	{ JL_Q_NUMBER, 1e10, "백억" },
	{ JL_Q_NUMBER, 1e9, "십억" },
	{ JL_Q_NUMBER, 1e8, "억" },
	{ JL_Q_NUMBER, 1e7, "천만" },
	{ JL_Q_NUMBER, 1e6, "백만" },
	{ JL_Q_NUMBER, 1e5, "십만" },
	{ JL_Q_NUMBER, 1e4, "만" },
	{ JL_Q_NUMBER, 1e3, "천" },
	{ JL_Q_NUMBER, 1e2, "백" },
	{ JL_Q_NUMBER, 1e1, "십" },
	{ JL_Q_GENERATION, 1, "세대" },
	{ JL_Q_COUNT, 1, "GPUs|GPU|nodes|node|노드|ranks|랭크|개|장|대|회" },
};

const signed char *jl_qty_dims(enum jl_qty q)
{
	static const signed char rows[JL_N_Q + 1][JL_N_DIM] = {
		/* exponents of s, B, FLOP, J, USD, KRW */
		[JL_Q_TIME] = { 1 },
		[JL_Q_GPU_TIME] = { 1 },
		[JL_Q_BYTES] = { 0, 1 },
		[JL_Q_BYTE_RATE] = { -1, 1 },
		[JL_Q_FLOP_RATE] = { -1, 0, 1 },
		[JL_Q_POWER] = { -1, 0, 0, 1 },
		[JL_Q_ENERGY] = { 0, 0, 0, 1 },
		[JL_Q_FREQUENCY] = { -1 },
		[JL_Q_USD] = { 0, 0, 0, 0, 1 },
		[JL_Q_KRW] = { 0, 0, 0, 0, 0, 1 },
		[JL_Q_USD_RATE] = { -1, 0, 0, 0, 1 },
		[JL_Q_USD_ENERGY] = { 0, 0, 0, -1, 1 },
		[JL_Q_COUNT_RATE] = { -1 },
	};

	return rows[q];
}

/* One-letter units that must follow the digits directly: "4 s" and "4 h" are times, "4 B" and "8 x" are ambiguous. */
static bool needs_glue(const char *spelling, size_t n)
{
	return n == 1 && !strchr("shdW%$", spelling[0]);
}

/* Latin units must end at a word boundary; Korean ones may be followed by particles. */
static bool stands_at(const char *spelling, size_t n, const char *text, size_t len)
{
	return n <= len && spelling[0] == text[0] && memcmp(spelling, text, n) == 0 &&
	       !(isalnum((unsigned char)spelling[n - 1]) && n < len &&
		 (isalnum((unsigned char)text[n]) || text[n] == '_'));
}

/* Spellings indexed by their first byte. */
struct spelling {
	const char *text;
	const struct jl_audit_unit *unit;
	uint8_t len;
};

#define SPELLINGS_MAX 400

static struct spelling spellings[SPELLINGS_MAX];
static uint16_t first_at[257];
static pthread_once_t ordered = PTHREAD_ONCE_INIT;

static int by_first_byte(const void *a, const void *b)
{
	const struct spelling *x = a, *y = b;

	if (x->text[0] != y->text[0])
		return (unsigned char)x->text[0] < (unsigned char)y->text[0] ? -1 : 1;
	return x->len != y->len ? (x->len > y->len ? -1 : 1) : 0;
}

static void put_in_order(void)
{
	size_t n = 0;

	for (size_t i = 0; i < JL_LEN(units); i++)
		for (const char *at = units[i].spellings; *at; at += *at == '|') {
			const size_t len = jl_word_len(at);

			if (n < SPELLINGS_MAX)
				spellings[n++] = (struct spelling){ at, &units[i], (uint8_t)len };
			at += len;
		}
	qsort(spellings, n, sizeof spellings[0], by_first_byte);
	for (size_t c = 0, i = 0; c <= 256; c++) {
		while (i < n && (unsigned char)spellings[i].text[0] < c)
			i++;
		first_at[c] = (uint16_t)i;
	}
}

const struct jl_audit_unit *jl_audit_unit_at(const char *text, size_t len, bool glued, size_t *ret_len)
{
	*ret_len = 0;
	if (!len)
		return NULL;
	pthread_once(&ordered, put_in_order);
	for (size_t i = first_at[(unsigned char)text[0]]; i < first_at[(unsigned char)text[0] + 1]; i++) {
		const struct spelling *s = &spellings[i];

		if (stands_at(s->text, s->len, text, len) && (glued || !needs_glue(s->text, s->len))) {
			*ret_len = s->len; /* sorted by length, longest first */
			return s->unit;
		}
	}
	return NULL;
}
