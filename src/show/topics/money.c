/* Formats money: three digits, won in Korean groups, the exchange rate. */
#include "topics/show.h"

#include <math.h>

const char *jl_rounded_text(struct jl_doc *doc, double value)
{
	const double unit = value >= 1000 ? pow(10, floor(log10(value)) - 2) : 1; /* value of the third digit */

	return value < 999.5 ? jl_doc_format(doc, "%.3g", value)
			     : jl_doc_format(doc, "%s", jl_grouped_text(JL_TXT, unit * round(value / unit)));
}

const char *jl_krw_number_text(struct jl_doc *doc, double won)
{
	static const char *const names[] = { "", "만", "억", "조" };
	const double unit = won >= 1000 ? pow(10, floor(log10(won)) - 2) : 1, exact = unit * round(won / unit);
	const int group = exact >= 1e12 ? 3 : exact >= 1e8 ? 2 : exact >= 1e4 ? 1 : 0;
	const double size = pow(1e4, group), whole = floor(exact / size),
		     rest = group ? round((exact - whole * size) / (size / 1e4)) : 0;

	if (group < 2)
		return jl_doc_format(doc, "%s%s", jl_rounded_text(doc, exact / size), names[group]);
	if (rest < 1)
		return jl_doc_format(doc, "%s%s", jl_grouped_text(JL_TXT, whole), names[group]);
	return jl_doc_format(doc, "%s%s %s%s", jl_grouped_text(JL_TXT, whole), names[group],
			     jl_grouped_text(JL_TXT, rest), names[group - 1]);
}

const char *jl_krw_text(struct jl_doc *doc, double won)
{
	if (!jl_lang_is("ko") || won < 1e5)
		return jl_doc_format(doc, JL_C("money", "%s %s"), jl_rounded_text(doc, won),
				     jl_unit_localized("KRW", NULL));
	return jl_doc_format(doc, "%s %s", jl_krw_number_text(doc, won), jl_unit_localized("KRW", NULL));
}

const char *jl_show_fx(struct jl_doc *doc, double krw_per_usd, const char *date, long today)
{
	const char *rate = krw_per_usd == round(krw_per_usd) ? jl_grouped_text(JL_TXT, krw_per_usd)
							     : jl_doc_format(doc, "%.6g", krw_per_usd);

	return jl_doc_format(doc,
			     jl_date_is_old(date, today) ? JL_("1 USD = %s KRW (%s, old ⚠: give today's with --fx)")
							 : JL_("1 USD = %s KRW (%s)"),
			     rate, date);
}
