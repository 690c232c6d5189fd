/* Messages: languages, endings, missing translations. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/msg.h"

extern const struct jl_language *const made_up_languages[]; /* tests/base/po/xx.po */

static void particles(void **state)
{
	static const struct {
		const char *word, *subject, *topic, *object, *by;
	} rows[] = {
		/* Korean: vowel, consonant, ㄹ */
		{ "메모리", "메모리가", "메모리는", "메모리를", "메모리로" },
		{ "모델", "모델이", "모델은", "모델을", "모델로" },
		{ "연결", "연결이", "연결은", "연결을", "연결로" },
		{ "대역폭", "대역폭이", "대역폭은", "대역폭을", "대역폭으로" },
		{ "시스템", "시스템이", "시스템은", "시스템을", "시스템으로" },
		{ "그래픽 카드", "그래픽 카드가", "그래픽 카드는", "그래픽 카드를", "그래픽 카드로" },
		{ "값", "값이", "값은", "값을", "값으로" },
		/* digits read as Korean numbers */
		{ "0", "0이", "0은", "0을", "0으로" },
		{ "1", "1이", "1은", "1을", "1로" },
		{ "2", "2가", "2는", "2를", "2로" },
		{ "3", "3이", "3은", "3을", "3으로" },
		{ "4", "4가", "4는", "4를", "4로" },
		{ "5", "5가", "5는", "5를", "5로" },
		{ "6", "6이", "6은", "6을", "6으로" },
		{ "7", "7이", "7은", "7을", "7로" },
		{ "8", "8이", "8은", "8을", "8로" },
		{ "9", "9가", "9는", "9를", "9로" },
		{ "10", "10이", "10은", "10을", "10으로" },
		{ "32", "32가", "32는", "32를", "32로" },
		{ "1,000", "1,000이", "1,000은", "1,000을", "1,000으로" },
		{ "1000000000000", "1000000000000가", "1000000000000는", "1000000000000를", "1000000000000로" },
		{ "0.5", "0.5가", "0.5는", "0.5를", "0.5로" },
		{ "0.10", "0.10이", "0.10은", "0.10을", "0.10으로" },
		/* letters and names */
		{ "GPU", "GPU가", "GPU는", "GPU를", "GPU로" },
		{ "HBM", "HBM이", "HBM은", "HBM을", "HBM으로" },
		{ "NCCL", "NCCL이", "NCCL은", "NCCL을", "NCCL로" },
		{ "LLM", "LLM이", "LLM은", "LLM을", "LLM으로" },
		{ "RTX", "RTX가", "RTX는", "RTX를", "RTX로" },
		{ "RAM", "RAM이", "RAM은", "RAM을", "RAM으로" },
		{ "H100", "H100이", "H100은", "H100을", "H100으로" },
		{ "L40S", "L40S가", "L40S는", "L40S를", "L40S로" },
		{ "RTX 4090", "RTX 4090이", "RTX 4090은", "RTX 4090을", "RTX 4090으로" },
		{ "RTX 3090 Ti", "RTX 3090 Ti가", "RTX 3090 Ti는", "RTX 3090 Ti를", "RTX 3090 Ti로" },
		{ "gpt-305m", "gpt-305m이", "gpt-305m은", "gpt-305m을", "gpt-305m으로" },
		{ "10gbe", "10gbe가", "10gbe는", "10gbe를", "10gbe로" },
		{ "ib-ndr", "ib-ndr이", "ib-ndr은", "ib-ndr을", "ib-ndr로" },
		{ "nvlink5-switch", "nvlink5-switch가", "nvlink5-switch는", "nvlink5-switch를", "nvlink5-switch로" },
		{ "NVLink", "NVLink가", "NVLink는", "NVLink를", "NVLink로" },
		{ "Megatron", "Megatron이", "Megatron은", "Megatron을", "Megatron으로" },
		{ "Blackwell", "Blackwell이", "Blackwell은", "Blackwell을", "Blackwell로" },
		{ "PyTorch", "PyTorch가", "PyTorch는", "PyTorch를", "PyTorch로" },
		{ "Hopper", "Hopper가", "Hopper는", "Hopper를", "Hopper로" },
		{ "bf16", "bf16이", "bf16은", "bf16을", "bf16으로" },
		{ "fp8", "fp8이", "fp8은", "fp8을", "fp8로" },
		{ "ZeRO-3", "ZeRO-3이", "ZeRO-3은", "ZeRO-3을", "ZeRO-3으로" },
		{ "cable", "cable이", "cable은", "cable을", "cable로" },
		{ "pipeline", "pipeline이", "pipeline은", "pipeline을", "pipeline으로" },
		{ "node", "node가", "node는", "node를", "node로" },
		{ "step", "step이", "step은", "step을", "step으로" },
		{ "catalog.yaml", "catalog.yaml이", "catalog.yaml은", "catalog.yaml을", "catalog.yaml로" },
		/* units */
		{ "900 GB/s", "900 GB/s가", "900 GB/s는", "900 GB/s를", "900 GB/s로" },
		{ "24 GiB", "24 GiB가", "24 GiB는", "24 GiB를", "24 GiB로" },
		{ "5 h", "5 h이", "5 h은", "5 h을", "5 h으로" },
		{ "3 d", "3 d이", "3 d은", "3 d을", "3 d로" },
		{ "12 min", "12 min이", "12 min은", "12 min을", "12 min으로" },
		{ "1.06 s", "1.06 s가", "1.06 s는", "1.06 s를", "1.06 s로" },
		{ "300 W", "300 W가", "300 W는", "300 W를", "300 W로" },
		{ "1,000 KRW", "1,000 KRW이", "1,000 KRW은", "1,000 KRW을", "1,000 KRW으로" },
		{ "40 %", "40 %가", "40 %는", "40 %를", "40 %로" },
		{ "30 mm", "30 mm가", "30 mm는", "30 mm를", "30 mm로" },
		/* quotes are silent; text in brackets after a word is ignored */
		{ "'H100'", "'H100'이", "'H100'은", "'H100'을", "'H100'으로" },
		{ "\"batch\"", "\"batch\"가", "\"batch\"는", "\"batch\"를", "\"batch\"로" },
		{ "모델(7B)", "모델(7B)이", "모델(7B)은", "모델(7B)을", "모델(7B)로" },
		{ "메모리 (24 GB)", "메모리 (24 GB)가", "메모리 (24 GB)는", "메모리 (24 GB)를", "메모리 (24 GB)로" },
		{ "(3)", "(3)이", "(3)은", "(3)을", "(3)으로" },
		{ "\033[1mGPU\033[0m", "\033[1mGPU\033[0m가", "\033[1mGPU\033[0m는", "\033[1mGPU\033[0m를",
		  "\033[1mGPU\033[0m로" },
	};
	char out[120];

	(void)state;
	assert_true(sizeof(rows) / sizeof(*rows) >= 60);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		jl_format(out, sizeof(out), "%s{이/가}", rows[i].word);
		assert_string_equal(out, rows[i].subject);
		jl_format(out, sizeof(out), "%s{은/는}", rows[i].word);
		assert_string_equal(out, rows[i].topic);
		jl_format(out, sizeof(out), "%s{을/를}", rows[i].word);
		assert_string_equal(out, rows[i].object);
		jl_format(out, sizeof(out), "%s{으로/로}", rows[i].word);
		assert_string_equal(out, rows[i].by);
	}
}

static void other_endings(void **state)
{
	char out[200];

	(void)state;
	jl_format(out, sizeof(out), "%s{과/와} %s{이라는/라는} %s{이나/나} %s{이며/며}", "GPU", "H100", "CPU", "모델");
	assert_string_equal(out, "GPU와 H100이라는 CPU나 모델이며");
	jl_format(out, sizeof(out), "%d row{/s}, %d cop{y/ies} {is/are} kept", 1, 2);
	assert_string_equal(out, "1 row, 2 copies are kept");
	jl_format(out, sizeof(out), "%.3g month{/s}, %d GPU{/s}", 1.5, 11);
	assert_string_equal(out, "1.5 months, 11 GPUs");
}

static void braces_that_mean_nothing_stay(void **state)
{
	char out[200];

	(void)state;
	jl_format(out, sizeof(out), "{ko: …, en: …} {} {%s} {a / b} %s", "x", "{이/가}");
	assert_string_equal(out, "{ko: …, en: …} {} {x} {a / b} {이/가}");
	jl_format(out, sizeof(out), "%s{이/가}", "\001");
	assert_string_equal(out, "\001가");
}

static void what_does_not_fit_is_cut(void **state)
{
	char out[8];

	(void)state;
	memset(out, 'x', sizeof(out));
	jl_format(out, 7, "%s{은/는}", "GPUs");
	assert_true(strlen(out) < 7);
	assert_int_equal(out[7], 'x');
}

static void growing_texts_have_endings_too(void **state)
{
	struct jl_arena arena;
	struct jl_buf buf;
	char longer[700];

	(void)state;
	jl_arena_init(&arena, 1 << 20);
	jl_buf_init(&buf, 1 << 20);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	jl_buf_puts(&buf, "a ");
	jl_buf_printf(&buf, "%s%s{을/를} ", longer, "H100");
	jl_buf_printf(&buf, "%s{으로/로}", "연결");
	assert_int_equal(strlen(buf.data), buf.len);
	assert_non_null(strstr(buf.data, "xH100을 연결로"));
	assert_string_equal(jl_arena_printf(&arena, "%s{와/과}", "3"), "3와"); /* the first form follows a consonant */
	jl_buf_release(&buf);
	jl_arena_release(&arena);
}

static void a_made_up_language(void **state)
{
	const struct jl_language *before = jl_lang_set(made_up_languages[1]);
	char en[100], text[100];

	(void)state;
	assert_string_equal(jl_lang()->code, "xx");
	assert_true(jl_lang_is("xx"));
	assert_string_equal(JL_("good morning"), "bonan matenon");
	assert_string_equal(jl_msg("good evening"), "good evening"); /* no translation */
	assert_string_equal(JL_("not sure"), "not sure");            /* fuzzy */
	assert_string_equal(JL_("two\tlines\n\"quoted\"?"), "du\tlinioj\n\"citita\"?");
	assert_string_equal(JL_C("of a disk", "space"), "loko");
	assert_string_equal(JL_C("of stars", "space"), "space");
	jl_msg_print(en, text, sizeof(en), "%d {%s} of %s", 3, "apples", "Kim");
	assert_string_equal(en, "3 apples of Kim");
	assert_string_equal(text, "Kim: pomoj, 3");
	jl_lang_set(before);
	assert_string_equal(JL_("good morning"), "good morning");
}

static void said_of(char *en, char *text, size_t size, const char *inner_en, const char *inner_text, const char *format,
		    ...) __attribute__((format(printf, 6, 7)));

static void said_of(char *en, char *text, size_t size, const char *inner_en, const char *inner_text, const char *format,
		    ...)
{
	va_list args;

	va_start(args, format);
	jl_msg_vprint_inner(en, text, size, inner_en, inner_text, format, args);
	va_end(args);
}

static void an_inner_text(void **state)
{
	char en[100], text[100], small[5], smaller[5];

	(void)state;
	jl_lang_set(made_up_languages[1]);
	said_of(en, text, sizeof(en), "no disk {}", "neniu disko {}", "rank %d: {}", 7);
	assert_string_equal(en, "rank 7: no disk {}");
	assert_string_equal(text, "rango 7: neniu disko {}");
	said_of(small, smaller, sizeof(small), "no disk", "neniu disko", "rank %d: {}", 7);
	assert_string_equal(small, "rank");
	assert_string_equal(smaller, "rang");
	jl_lang_set(NULL);
}

static void *in_thread(void *ctx)
{
	*(const char **)ctx = jl_lang()->code;
	return NULL;
}

static void threads(void **state)
{
	const char *code = NULL;
	pthread_t thread;

	(void)state;
	jl_lang_set(made_up_languages[1]); /* only this thread */
	assert_int_equal(pthread_create(&thread, NULL, in_thread, &code), 0);
	pthread_join(thread, NULL);
	assert_string_equal(code, "en");
	jl_lang_set(NULL);
	jl_lang_set_default(made_up_languages[1]);
	assert_int_equal(pthread_create(&thread, NULL, in_thread, &code), 0);
	pthread_join(thread, NULL);
	assert_string_equal(code, "xx");
	jl_lang_set_default(NULL);
}

static void languages_of_the_program(void **state)
{
	(void)state;
	assert_string_equal(jl_languages[0]->code, "en");
	assert_ptr_equal(jl_lang_find("en_US.UTF-8"), jl_languages[0]);
	assert_non_null(jl_lang_find("ko"));
	assert_ptr_equal(jl_lang_find("ko_KR.UTF-8"), jl_lang_find("ko"));
	assert_null(jl_lang_find("kok"));
	assert_null(jl_lang_find("C.UTF-8"));
	for (const struct jl_language *const *l = jl_languages; *l; l++)
		for (size_t i = 1; i < (*l)->n; i++)
			assert_true(strcmp((*l)->texts + (*l)->rows[i - 1].en, (*l)->texts + (*l)->rows[i].en) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(particles),
		cmocka_unit_test(other_endings),
		cmocka_unit_test(braces_that_mean_nothing_stay),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(growing_texts_have_endings_too),
		cmocka_unit_test(a_made_up_language),
		cmocka_unit_test(an_inner_text),
		cmocka_unit_test(threads),
		cmocka_unit_test(languages_of_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
