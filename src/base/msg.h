/* Messages: English in the code, every other language in po/<code>.po, compiled into the program (jeoul-poc).
 *
 * JL_("text") is the text in the reader's language; JL_N("text") marks a text of a table, which jl_msg() says
 * later. A text without translation stays English.
 *
 * A text that is filled in may hold, in any language,
 *     {A/B}   an ending that depends on what stands before it: with Korean letters, A after a final consonant and B after
 *             a vowel ("%s{은/는}", "%s{으로/로}"); otherwise A after the number 1 and B after any other ("%zu row{/s}")
 * and one that is said in English and in the reader's language at once (errors, notes; jl_msg_print) also
 *     {%s}    a word that is a message itself
 *     {}      what went wrong inside (jl_fail_from) */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Distances into the language's texts: nothing for the loader to adjust before main. */
struct jl_msg_row {
	unsigned en, said;
};

struct jl_language {
	const char *code; /* "ko" */
	size_t n;
	const struct jl_msg_row *rows; /* by strcmp of the English */
	const char *texts;
};

extern const struct jl_language *const jl_languages[]; /* English first; NULL ends it */
extern const char *const jl_languages_codes[];         /* "ko", ..., "en" */
extern const char jl_languages_choice[];               /* "ko|en" */

/* The language of this thread, else of the process, else English. */
const struct jl_language *jl_lang(void);
bool jl_lang_is(const char *code);

/* For this thread; NULL: that of the process again. Returns what was set before, to be put back. */
const struct jl_language *jl_lang_set(const struct jl_language *lang);

/* Default for threads without a language; set by cli and web before threads start. */
void jl_lang_set_default(const struct jl_language *lang);

/* By code or by locale: "ko", "ko_KR.UTF-8". NULL: not known. */
const struct jl_language *jl_lang_find(const char *code);

const char *jl_msg(const char *en) __attribute__((format_arg(1)));
#define JL_(en)  jl_msg("" en)
#define JL_N(en) en

/* Where the same English needs two translations: JL_C("of a disk", "space"). A row that is marked so is for people: only
 * jl_msg() takes the context away. */
#define JL_C(context, en)  jl_msg(context "\004" en)
#define JL_NC(context, en) context "\004" en

/* snprintf that resolves endings. */
int jl_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int jl_vformat(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* The same text twice, each of `size` bytes: in English for files and programs, and as the reader sees it. */
void jl_msg_print(char *en, char *text, size_t size, const char *format, ...) __attribute__((format(printf, 4, 5)));
void jl_msg_vprint(char *en, char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

/* jl_msg_vprint with what stands for {}: the inner text in both forms. */
void jl_msg_vprint_inner(char *en, char *text, size_t size, const char *inner_en, const char *inner_text,
			 const char *format, va_list args) __attribute__((format(printf, 6, 0)));

/* For those who print by themselves: a format whose endings are hidden from printf (`format` itself where there are
 * none), and the text made with it put right in place. Returns the new length. */
#define JL_MSG_FORMAT_MAX 2048
const char *jl_msg_hide(char room[JL_MSG_FORMAT_MAX], const char *format) __attribute__((format_arg(2)));
size_t jl_msg_resolve(char *text);

/* The last sound of a text as it is read in Korean: letters, digits, units; closing quotes and what stands in brackets do not count. */
enum jl_sound { JL_SOUND_VOWEL, JL_SOUND_CONSONANT, JL_SOUND_L /* ㄹ: a consonant, but takes 로 */ };
enum jl_sound jl_last_sound(const char *text, size_t len);
