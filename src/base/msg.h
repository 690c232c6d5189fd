/* Messages: English in the code, other languages in po/<code>.po, compiled into the program by jeoul-poc.
 *
 * JL_("text") gives the text in the user's language. JL_N("text") marks a text in a table that jl_msg() translates later. Text without a
 * translation stays English.
 *
 * Formats may contain, in any language:
 *     {A/B}   an ending that depends on the text before it. Korean: A after a final consonant, B after a vowel
 *             ("%s{은/는}", "%s{으로/로}"). Otherwise: A after the number 1, B after any other ("%zu row{/s}").
 * Formats of messages kept in English and in the user's language (errors, notes; jl_msg_print) may also contain:
 *     {%s}    a word that is itself a message
 *     {}      the inner error (jl_fail_from) */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Offsets into the language's texts instead of pointers: no relocations at program start. */
struct jl_msg_row {
	unsigned en, said;
};

struct jl_language {
	const char *code; /* "ko" */
	size_t n;
	const struct jl_msg_row *rows; /* sorted by strcmp of the English text */
	const char *texts;
};

extern const struct jl_language *const jl_languages[]; /* English first; NULL-terminated */
extern const char *const jl_languages_codes[];         /* "ko", ..., "en" */
extern const char jl_languages_choice[];               /* "ko|en" */

/* The language of this thread, else of the process, else English. */
const struct jl_language *jl_lang(void);
bool jl_lang_is(const char *code);

/* Sets the language of this thread; NULL: that of the process. Returns the previous setting, for the caller to restore. */
const struct jl_language *jl_lang_set(const struct jl_language *lang);

/* Default for threads without their own language; cli and web set it before they start threads. */
void jl_lang_set_default(const struct jl_language *lang);

/* Finds a language by code or locale: "ko", "ko_KR.UTF-8". NULL: unknown. */
const struct jl_language *jl_lang_find(const char *code);

const char *jl_msg(const char *en) __attribute__((format_arg(1)));
#define JL_(en)  jl_msg("" en)
#define JL_N(en) en

/* For English text that needs two translations: JL_C("of a disk", "space"). Rows marked so are for display only: only jl_msg() removes the context.
 */
#define JL_C(context, en)  jl_msg(context "\004" en)
#define JL_NC(context, en) context "\004" en

/* snprintf that resolves endings. */
int jl_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int jl_vformat(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* Formats one message twice, `size` bytes each: in English (files, programs) and in the user's language. */
void jl_msg_print(char *en, char *text, size_t size, const char *format, ...) __attribute__((format(printf, 4, 5)));
void jl_msg_vprint(char *en, char *text, size_t size, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

/* jl_msg_vprint with the inner message for {}, in both languages. */
void jl_msg_vprint_inner(char *en, char *text, size_t size, const char *inner_en, const char *inner_text,
			 const char *format, va_list args) __attribute__((format(printf, 6, 0)));

/* For callers that print themselves: jl_msg_hide replaces the endings of a format by placeholders (returns `format` itself if there are none); the
 * second function resolves them in the printed text, in place, and returns the new length. */
#define JL_MSG_FORMAT_MAX 2048
const char *jl_msg_hide(char room[JL_MSG_FORMAT_MAX], const char *format) __attribute__((format_arg(2)));
size_t jl_msg_resolve(char *text);

/* Last sound of a text read aloud in Korean: letters, digits, units. Closing quotes and text in brackets are ignored. */
enum jl_sound { JL_SOUND_VOWEL, JL_SOUND_CONSONANT, JL_SOUND_L /* ㄹ: a consonant, but takes 로 */ };
enum jl_sound jl_last_sound(const char *text, size_t len);
