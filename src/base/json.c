/* Streaming JSON writer. Knows no particular document. */
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

void jl_json_init(struct jl_json *json, struct jl_buf *out, bool pretty)
{
	*json = (struct jl_json){ .out = out, .pretty = pretty };
}

static void new_line(struct jl_json *json)
{
	if (!json->pretty)
		return;
	jl_buf_putc(json->out, '\n');
	jl_buf_pad(json->out, ' ', 2 * json->depth);
}

/* Writes the separator before an item; asserts that an item is allowed here. */
static void begin_item(struct jl_json *json)
{
	static const char gap[] = ",\n                                "; /* enough for almost all depths */

	if (json->depth == 0)
		return;
	const size_t first = json->levels[json->depth - 1].has_items ? 0 : 1;

	json->levels[json->depth - 1].has_items = true;
	if (json->pretty && 2 * json->depth + 2 < sizeof(gap)) {
		jl_buf_add(json->out, gap + first, 2 + 2 * json->depth - first);
		return;
	}
	if (!first)
		jl_buf_putc(json->out, ',');
	new_line(json);
}

static void begin_value(struct jl_json *json)
{
	assert(!json->done && "one value at the top only");
	assert((json->depth == 0 || !json->levels[json->depth - 1].is_object || json->has_key) &&
	       "a value in an object has a key");
	if (!json->has_key)
		begin_item(json);
	json->has_key = false;
	json->done = json->depth == 0;
}

static void open_level(struct jl_json *json, bool is_object)
{
	begin_value(json);
	json->done = false;
	assert(json->depth < JL_JSON_DEPTH_MAX && "too deep");
	if (json->depth == JL_JSON_DEPTH_MAX) {
		json->out->failed = JL_E_LIMIT;
		return;
	}
	json->levels[json->depth].is_object = is_object;
	json->levels[json->depth].has_items = false;
	json->depth++;
	jl_buf_putc(json->out, is_object ? '{' : '[');
}

static void close_level(struct jl_json *json, bool is_object)
{
	bool has_items;

	assert(json->depth > 0 && !json->has_key && json->levels[json->depth - 1].is_object == is_object &&
	       "an end that fits");
	if (json->depth == 0)
		return;
	has_items = json->levels[--json->depth].has_items;
	if (has_items)
		new_line(json);
	jl_buf_putc(json->out, is_object ? '}' : ']');
	json->done = json->depth == 0;
}

void jl_json_finish(struct jl_json *json)
{
	assert(json->done && "a complete document");
	if (json->pretty)
		jl_buf_putc(json->out, '\n');
}

void jl_json_object(struct jl_json *json)
{
	open_level(json, true);
}

void jl_json_end_object(struct jl_json *json)
{
	close_level(json, true);
}

void jl_json_array(struct jl_json *json)
{
	open_level(json, false);
}

void jl_json_end_array(struct jl_json *json)
{
	close_level(json, false);
}

static void escape_char(struct jl_buf *out, uint32_t c, const char *bytes, size_t n)
{
	static const char named[][2] = { { '"', '"' },  { '\\', '\\' }, { '\n', 'n' }, { '\r', 'r' },
					 { '\t', 't' }, { '\b', 'b' },  { '\f', 'f' } };

	for (size_t i = 0; i < JL_LEN(named); i++) {
		if (c == (unsigned char)named[i][0]) {
			jl_buf_putc(out, '\\');
			jl_buf_putc(out, named[i][1]);
			return;
		}
	}
	/* '<' is escaped so that "</script>" in a name cannot end the page's script; U+2028 and U+2029 end lines in old JavaScript */
	if (c < 0x20 || c == 0x7f || c == '<' || c == 0x2028 || c == 0x2029)
		jl_buf_printf(out, "\\u%04x", (unsigned)c);
	else
		jl_buf_add(out, bytes, n);
}

/* Number of leading bytes that need no escape. */
static size_t plain_len(const char *text)
{
	size_t n = 0;

	while (text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\' && text[n] != '<')
		n++;
	return n;
}

void jl_json_escape(struct jl_buf *out, const char *text)
{
	size_t left = plain_len(text);
	char whole[128];

	if (!text[left] && left + 2 <= sizeof(whole)) {
		whole[0] = whole[left + 1] = '"';
		memcpy(whole + 1, text, left);
		jl_buf_add(out, whole, left + 2);
		return;
	}
	left += strlen(text + left);
	jl_buf_putc(out, '"');
	while (left > 0) {
		uint32_t c;
		size_t n = plain_len(text);
		if (n > 0) {
			jl_buf_add(out, text, n);
		} else if ((n = jl_utf8_decode(text, left, &c)) == 0) {
			jl_buf_puts(out, "\xef\xbf\xbd"); /* U+FFFD replaces an invalid byte */
			n = 1;
		} else {
			escape_char(out, c, text, n);
		}
		text += n;
		left -= n;
	}
	jl_buf_putc(out, '"');
}

void jl_json_key(struct jl_json *json, const char *key)
{
	assert(json->depth > 0 && json->levels[json->depth - 1].is_object && !json->has_key &&
	       "a key stands in an object");
	begin_item(json);
	jl_json_escape(json->out, key);
	jl_buf_puts(json->out, json->pretty ? ": " : ":");
	json->has_key = true;
}

void jl_json_string(struct jl_json *json, const char *text)
{
	begin_value(json);
	if (text)
		jl_json_escape(json->out, text);
	else
		jl_buf_puts(json->out, "null");
}

void jl_json_number(struct jl_json *json, double value)
{
	char text[JL_NUM_TEXT_MAX];

	begin_value(json);
	jl_buf_puts(json->out, isfinite(value) ? jl_num_text(text, value) : "null");
}

void jl_json_integer(struct jl_json *json, long long value)
{
	begin_value(json);
	jl_buf_printf(json->out, "%lld", value);
}

void jl_json_bool(struct jl_json *json, bool value)
{
	begin_value(json);
	jl_buf_puts(json->out, value ? "true" : "false");
}

void jl_json_null(struct jl_json *json)
{
	begin_value(json);
	jl_buf_puts(json->out, "null");
}

void jl_json_put_object(struct jl_json *json, const char *key)
{
	jl_json_key(json, key);
	jl_json_object(json);
}

void jl_json_put_array(struct jl_json *json, const char *key)
{
	jl_json_key(json, key);
	jl_json_array(json);
}

void jl_json_put_string(struct jl_json *json, const char *key, const char *text)
{
	jl_json_key(json, key);
	jl_json_string(json, text);
}

void jl_json_put_number(struct jl_json *json, const char *key, double value)
{
	jl_json_key(json, key);
	jl_json_number(json, value);
}

void jl_json_put_integer(struct jl_json *json, const char *key, long long value)
{
	jl_json_key(json, key);
	jl_json_integer(json, value);
}

void jl_json_put_bool(struct jl_json *json, const char *key, bool value)
{
	jl_json_key(json, key);
	jl_json_bool(json, value);
}

/* One packed value; an optional key is left out for NULL, NAN and false. */
static void pack_value(struct jl_json *json, const char *key, char type, va_list *args)
{
	const char *text = type == 's' ? va_arg(*args, const char *) : "";
	const double number = type == 'f' ? va_arg(*args, double) : 0;
	const long long whole = type == 'i' || type == 'b' ? va_arg(*args, int)
				: type == 'l'              ? va_arg(*args, long long)
				: type == 'z'              ? (long long)va_arg(*args, size_t)
							   : 0;

	if (key && (!text || isnan(number) || (type == 'b' && !whole)))
		return;
	if (key)
		jl_json_key(json, key);
	switch (type) {
	case 's': jl_json_string(json, text); break;
	case 'f': jl_json_number(json, number); break;
	case 'b': jl_json_bool(json, whole != 0); break;
	default: assert(strchr("ilz", type)); jl_json_integer(json, whole);
	}
}

void jl_json_pack(struct jl_json *json, const char *form, ...)
{
	va_list args;
	char key[64];

	va_start(args, form);
	for (size_t n; *form; form += n) {
		n = 1;
		switch (*form) {
		case ' ': break;
		case '{': jl_json_object(json); break;
		case '}': jl_json_end_object(json); break;
		case '[': jl_json_array(json); break;
		case ']': jl_json_end_array(json); break;
		default:
			n = strcspn(form, " {}[]:?");
			if (form[n] != ':' && form[n] != '?') {
				pack_value(json, NULL, *form, &args);
				break;
			}
			assert(n < sizeof(key));
			memcpy(key, form, n);
			key[n++] = '\0';
			if (form[n - 1] == ':')
				jl_json_key(json, key);
			else
				pack_value(json, key, form[n++], &args);
		}
	}
	va_end(args);
}
