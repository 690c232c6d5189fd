/* Translates and formats messages, with Korean particles and English plurals. */
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Placeholders for braces while printf runs, because inserted words may contain braces themselves. */
enum { OPEN = 1, CLOSE, WORD, CONTEXT_END /* gettext's separator of context and text */, WORD_END, INNER };

#define TEXT_MAX 2048

static const struct jl_language *_Atomic process_lang;
static _Thread_local const struct jl_language *thread_lang;

const struct jl_language *jl_lang(void)
{
	const struct jl_language *lang = thread_lang ? thread_lang : process_lang;

	return lang ? lang : jl_languages[0];
}

bool jl_lang_is(const char *code)
{
	return strcmp(jl_lang()->code, code) == 0;
}

const struct jl_language *jl_lang_set(const struct jl_language *lang)
{
	const struct jl_language *before = thread_lang;

	thread_lang = lang;
	return before;
}

void jl_lang_set_default(const struct jl_language *lang)
{
	process_lang = lang;
}

const struct jl_language *jl_lang_find(const char *code)
{
	const size_t len = strcspn(code, "_.@-");

	for (const struct jl_language *const *l = jl_languages; *l; l++)
		if (strlen((*l)->code) == len && strncmp((*l)->code, code, len) == 0)
			return *l;
	return NULL;
}

static const char *translated(const struct jl_language *lang, const char *en)
{
	size_t lo = 0, hi = lang->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const int order = strcmp(en, lang->texts + lang->rows[mid].en);

		if (order == 0)
			return lang->texts + lang->rows[mid].said;
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

const char *jl_msg(const char *en)
{
	if (!en || !*en)
		return en;
	const char *text = translated(jl_lang(), en);

	if (text)
		return text;
	const char *context_end = strchr(en, CONTEXT_END);
	return context_end ? context_end + 1 : en;
}

/* Length of the directive that begins at `brace`; 0: not a directive, the braces are plain text. */
static size_t directive(const char *brace, char *ret_open, char *ret_close)
{
	const size_t len = strcspn(brace + 1, "{}%");
	const char *end = brace + 1 + len;

	if (*end == '}' && len == 0) {
		*ret_open = INNER;
		*ret_close = 0;
		return 2;
	}
	if (*end == '}' && memchr(brace + 1, '/', len) && !memchr(brace + 1, ' ', len)) {
		*ret_open = OPEN;
		*ret_close = CLOSE;
		return len + 2;
	}
	if (*end == '%' && len == 0) {
		size_t n = strspn(end + 1, "0123456789$.");

		if (end[1 + n] == 's' && end[2 + n] == '}') {
			*ret_open = WORD;
			*ret_close = WORD_END;
			return n + 4;
		}
	}
	return 0;
}

static const char *hide(char room[JL_MSG_FORMAT_MAX], const char *format, bool both)
{
	const char *from = format;
	char *to = room;

	if (!strchr(format, '{') || strlen(format) >= JL_MSG_FORMAT_MAX)
		return format;
	while (*from) {
		char open, close;
		const size_t len = *from == '{' ? directive(from, &open, &close) : 0;

		if (len == 0 || (open != OPEN && !both)) {
			*to++ = *from++;
			continue;
		}
		*to++ = open;
		if (close) {
			memcpy(to, from + 1, len - 2);
			to += len - 2;
			*to++ = close;
		}
		from += len;
	}
	*to = '\0';
	return room;
}

const char *jl_msg_hide(char room[JL_MSG_FORMAT_MAX], const char *format)
{
	return hide(room, format, false);
}

/* True if the last number before the ending is exactly 1. */
static bool after_one(const char *text, size_t len)
{
	size_t end = len, start;

	while (end > 0 && !(text[end - 1] >= '0' && text[end - 1] <= '9'))
		end--;
	start = end;
	while (start > 0 && strchr("0123456789.,", text[start - 1]))
		start--;
	return end - start == 1 && text[start] == '1';
}

/* Writes the alternative of "A/B" (`len` bytes at `ending`) that fits the first `at` bytes of `text`; returns its length. Works in place, because
 * the output is shorter than the input. */
static size_t put_ending(char *text, size_t at, size_t size, const char *ending, size_t len)
{
	const char *slash = memchr(ending, '/', len);
	bool first, korean = false;

	for (size_t i = 0; i < len; i++)
		korean |= (unsigned char)ending[i] >= 0xEA;
	if (korean) {
		const enum jl_sound sound = jl_last_sound(text, at);

		first = sound == JL_SOUND_CONSONANT || (sound == JL_SOUND_L && strncmp(ending, "으", 3) != 0);
	} else {
		first = after_one(text, at);
	}
	const char *half = first ? ending : slash + 1;
	size_t n = first ? (size_t)(slash - ending) : len - (size_t)(slash + 1 - ending);
	if (at + n >= size)
		n = size > at + 1 ? size - at - 1 : 0;
	memmove(text + at, half, n);
	return n;
}

/* End of the ending that begins at `open`; NULL: not an ending but a byte of inserted text. */
static char *ending_end(char *open)
{
	const size_t len = *open == OPEN ? strcspn(open + 1, "\001\002") : 0;

	return len && open[1 + len] == CLOSE && memchr(open + 1, '/', len) ? open + 1 + len : NULL;
}

size_t jl_msg_resolve(char *text)
{
	size_t from = 0, to = 0;
	const size_t len = strlen(text);

	while (from < len) {
		const char *end = ending_end(text + from);

		if (end) {
			const size_t n = (size_t)(end - text) - from - 1;

			to += put_ending(text, to, len + 1, text + from + 1, n);
			from += n + 2;
		} else {
			text[to++] = text[from++];
		}
	}
	text[to] = '\0';
	return to;
}

int jl_vformat(char *out, size_t size, const char *format, va_list args)
{
	char room[JL_MSG_FORMAT_MAX];
	const char *hidden = jl_msg_hide(room, format);
	const int n = vsnprintf(out, size, hidden, args);

	return hidden == format || n < 0 || size == 0 ? n : (int)jl_msg_resolve(out);
}

int jl_format(char *out, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = jl_vformat(out, size, format, args);
	va_end(args);
	return n;
}

static size_t append(char *out, size_t at, size_t size, const char *text)
{
	const size_t n = strlen(text), left = size - at - 1;

	memcpy(out + at, text, n < left ? n : left);
	return at + (n < left ? n : left);
}

/* Copies `filled` to `out` with words, inner text and endings resolved. */
static void finish(char *out, size_t size, char *filled, const char *inner)
{
	size_t at = 0;

	for (char *from = filled; *from && at + 1 < size; from++) {
		char *end = *from == WORD ? strchr(from, WORD_END) : ending_end(from);

		if (*from == INNER) {
			at = append(out, at, size, inner ? inner : "{}");
		} else if (end && *from == WORD) {
			*end = '\0';
			at = append(out, at, size, jl_msg(from + 1));
			from = end;
		} else if (end) {
			at += put_ending(out, at, size, from + 1, (size_t)(end - from) - 1);
			from = end;
		} else {
			out[at++] = *from;
		}
	}
	out[at] = '\0';
}

static void fill(char *out, size_t size, const char *inner, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

static void fill(char *out, size_t size, const char *inner, const char *format, va_list args)
{
	char room[JL_MSG_FORMAT_MAX], filled[TEXT_MAX];
	const char *hidden = hide(room, format, true);

	if (hidden == format) {
		vsnprintf(out, size, format, args);
		return;
	}
	vsnprintf(filled, sizeof(filled), hidden, args);
	finish(out, size, filled, inner);
}

void jl_msg_vprint_inner(char *en, char *text, size_t size, const char *inner_en, const char *inner_text,
			 const char *format, va_list args)
{
	const struct jl_language *reader = jl_lang_set(jl_languages[0]);
	va_list again;

	va_copy(again, args);
	fill(en, size, inner_en, format, args);
	jl_lang_set(reader);
	if (jl_lang() == jl_languages[0] && inner_en == inner_text && jl_msg(format) == format)
		memcpy(text, en, strlen(en) + 1);
	else
		fill(text, size, inner_text, jl_msg(format), again);
	va_end(again);
}

void jl_msg_vprint(char *en, char *text, size_t size, const char *format, va_list args)
{
	jl_msg_vprint_inner(en, text, size, NULL, NULL, format, args);
}

void jl_msg_print(char *en, char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	jl_msg_vprint(en, text, size, format, args);
	va_end(args);
}
