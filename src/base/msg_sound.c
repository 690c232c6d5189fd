/* Last sound of a text read aloud in Korean, which decides the particle behind it. Knows nothing of messages. */
#include <ctype.h>
#include <string.h>

#include "base/msg.h"

#define SYLLABLE_FIRST 0xAC00
#define SYLLABLE_LAST  0xD7A3
#define LOOK_BACK_B    256 /* longest word considered, in bytes */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_vowel(char c)
{
	return c && strchr("aeiouyAEIOUY", c);
}

/* Start of the UTF-8 character that ends at `len`. */
static size_t char_start(const char *text, size_t len)
{
	size_t at = len - 1;

	while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
		at--;
	return at;
}

static unsigned decode(const char *at, size_t len)
{
	const unsigned char *c = (const unsigned char *)at;

	if (len == 3)
		return (c[0] & 0x0Fu) << 12 | (c[1] & 0x3Fu) << 6 | (c[2] & 0x3Fu);
	if (len == 2)
		return (c[0] & 0x1Fu) << 6 | (c[1] & 0x3Fu);
	return len == 1 ? c[0] : 0xFFFD;
}

/* Length without trailing quotes, terminal colours and "(x)", which are not read aloud. */
static size_t strip(const char *text, size_t len)
{
	static const char *const silent[] = { " ", "'", "\"", "`", "*", "_", ">", "”", "’", "»", "」", "』" };

	for (size_t i = 0; i < sizeof(silent) / sizeof(*silent) && len > 0; i++) {
		const size_t n = strlen(silent[i]);

		if (len >= n && memcmp(text + len - n, silent[i], n) == 0)
			return strip(text, len - n);
	}
	if (len > 2 && text[len - 1] == 'm') {
		size_t at = len - 1;

		while (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == ';'))
			at--;
		if (at > 1 && text[at - 1] == '[' && text[at - 2] == '\033')
			return strip(text, at - 2);
	}
	if (len > 0 && strchr(")]}", text[len - 1])) {
		const char close = text[len - 1], open = close == ')' ? '(' : close == ']' ? '[' : '{';
		size_t depth = 1, at = len - 1, before;

		while (at > 0 && depth > 0) {
			at--;
			depth += text[at] == close;
			depth -= text[at] == open;
		}
		before = depth == 0 ? strip(text, at) : 0;
		return before > 0 ? before : strip(text, len - 1);
	}
	return len;
}

/* Korean digits 영 일 이 삼 사 오 육 칠 팔 구. 십, 백, 천, 만, 억 and 경 end in a consonant, 조 in a vowel. */
static enum jl_sound digit_sound(const char *text, size_t len)
{
	static const enum jl_sound read[] = { JL_SOUND_CONSONANT, JL_SOUND_L,     JL_SOUND_VOWEL,
					      JL_SOUND_CONSONANT, JL_SOUND_VOWEL, JL_SOUND_VOWEL,
					      JL_SOUND_CONSONANT, JL_SOUND_L,     JL_SOUND_L,
					      JL_SOUND_VOWEL };
	size_t n_zeros = 0, at = len;

	if (text[len - 1] != '0')
		return read[text[len - 1] - '0'];
	for (; at > 0 && (text[at - 1] == '0' || text[at - 1] == ','); at--)
		n_zeros += text[at - 1] == '0';
	if (at > 0 && is_digit(text[at - 1]) && n_zeros >= 12 && n_zeros < 16)
		return JL_SOUND_VOWEL;
	return JL_SOUND_CONSONANT;
}

/* Units behind a number that are read as a Korean word, not letter by letter. */
static bool unit_sound(enum jl_sound *ret_sound, const char *word, size_t len)
{
	static const struct {
		const char *unit;
		enum jl_sound sound;
	} units[] = {
		{ "h", JL_SOUND_CONSONANT } /* 시간 */,
		{ "d", JL_SOUND_L } /* 일 */,
		{ "y", JL_SOUND_CONSONANT } /* 년 */,
		{ "KRW", JL_SOUND_CONSONANT } /* 원 */,
		{ "J", JL_SOUND_L } /* 줄 */,
		{ "kJ", JL_SOUND_L },
		{ "MJ", JL_SOUND_L },
		{ "m", JL_SOUND_VOWEL },
		{ "mm", JL_SOUND_VOWEL },
		{ "cm", JL_SOUND_VOWEL },
		{ "km", JL_SOUND_VOWEL },
		{ "FLOP", JL_SOUND_CONSONANT },
		{ "GFLOP", JL_SOUND_CONSONANT },
		{ "TFLOP", JL_SOUND_CONSONANT },
		{ "PFLOP", JL_SOUND_CONSONANT },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].unit) == len && memcmp(units[i].unit, word, len) == 0) {
			*ret_sound = units[i].sound;
			return true;
		}
	return false;
}

/* Letter names: 엘, 엠, 엔, 알; all others end in a vowel. */
static enum jl_sound letter_sound(char c)
{
	switch (tolower((unsigned char)c)) {
	case 'l':
	case 'r': return JL_SOUND_L;
	case 'm':
	case 'n': return JL_SOUND_CONSONANT;
	default: return JL_SOUND_VOWEL;
	}
}

/* English loanwords: 케이블, 타임, 칩, 블록, 웹, 링 end in a consonant; most other endings get a vowel (링크, 서버, 노드). */
static enum jl_sound word_sound(const char *word, size_t len)
{
	const char last = (char)tolower((unsigned char)word[len - 1]);
	const char before = len > 1 ? word[len - 2] : '\0';
	const bool short_vowel = is_vowel(before) && !(len > 2 && is_vowel(word[len - 3]));

	switch (last) {
	case 'l': return JL_SOUND_L;
	case 'm':
	case 'n': return JL_SOUND_CONSONANT;
	case 'g': return before == 'n' ? JL_SOUND_CONSONANT : JL_SOUND_VOWEL;
	case 'k': return before == 'c' ? JL_SOUND_CONSONANT : JL_SOUND_VOWEL;
	case 'b':
	case 'p':
		return short_vowel || (len > 3 && memcmp(word + len - 3, "oup", 3) == 0) ? JL_SOUND_CONSONANT
											 : JL_SOUND_VOWEL;
	case 't': return short_vowel && before == 'e' ? JL_SOUND_CONSONANT : JL_SOUND_VOWEL;
	case 'e':
		if (len < 4 || is_vowel(before))
			return JL_SOUND_VOWEL;
		if (before == 'l')
			return JL_SOUND_L;
		return before == 'm' || before == 'n' || before == 'p' ? JL_SOUND_CONSONANT : JL_SOUND_VOWEL;
	default: return JL_SOUND_VOWEL;
	}
}

static enum jl_sound latin_sound(const char *text, size_t len)
{
	size_t start = len, n_lower = 0, n_vowels = 0, at;
	enum jl_sound sound;

	while (start > 0 && is_letter(text[start - 1])) {
		start--;
		n_lower += text[start] >= 'a';
		n_vowels += is_vowel(text[start]);
	}
	for (at = start; at > 0 && text[at - 1] == ' '; at--)
		;
	if (at > 0 && at < start && is_digit(text[at - 1]) && unit_sound(&sound, text + start, len - start))
		return sound;
	/* read letter by letter: GPU, ndr, GiB; as a word: Megatron, nvlink */
	if (len - start == 1 || n_lower == 0 || n_vowels == 0 || text[len - 1] < 'a')
		return letter_sound(text[len - 1]);
	return word_sound(text + start, len - start);
}

enum jl_sound jl_last_sound(const char *text, size_t len)
{
	if (len > LOOK_BACK_B) {
		text += len - LOOK_BACK_B;
		len = LOOK_BACK_B;
	}
	len = strip(text, len);
	if (len == 0)
		return JL_SOUND_VOWEL;
	if (is_digit(text[len - 1]))
		return digit_sound(text, len);
	if (is_letter(text[len - 1]))
		return latin_sound(text, len);
	size_t at = char_start(text, len);
	unsigned c = decode(text + at, len - at);
	if (c >= SYLLABLE_FIRST && c <= SYLLABLE_LAST) {
		const unsigned final = (c - SYLLABLE_FIRST) % 28;

		return final == 0 ? JL_SOUND_VOWEL : final == 8 ? JL_SOUND_L : JL_SOUND_CONSONANT;
	}
	return c == 0x20A9 ? JL_SOUND_CONSONANT : JL_SOUND_VOWEL; /* ₩ is read 원 */
}
