/* Calendar dates as day numbers. Knows no clock and no time zone. */
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>

#define YEAR_MAX 2999     /* keeps sums of dates below DAY_MAX */
#define DAY_MAX  2900000L /* about the year 9900: years have four digits */

/* Proleptic Gregorian calendar. The year starts in March, so that the leap day is its last day. */
static long days_from_civil(long year, int month, int day)
{
	long shifted = month <= 2 ? year - 1 : year;
	long era = (shifted >= 0 ? shifted : shifted - 399) / 400;
	long year_of_era = shifted - era * 400;
	long day_of_year = (153L * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static int days_in_month(long year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* Accepted forms of a date; # stands for one digit. */
enum form { FORM_YEAR, FORM_MONTH, FORM_DAY, FORM_QUARTER, N_FORM };

static const char *const forms[N_FORM] = {
	[FORM_YEAR] = "####",
	[FORM_MONTH] = "####-##",
	[FORM_DAY] = "####-##-##",
	[FORM_QUARTER] = "####-Q#",
};

static bool matches(const char *text, const char *form)
{
	for (; *form; form++, text++) {
		if (*form == '#' ? *text < '0' || *text > '9' : *text != *form)
			return false;
	}
	return *text == '\0';
}

static int digits(const char *text, int n)
{
	int value = 0;

	for (int i = 0; i < n; i++)
		value = value * 10 + (text[i] - '0');
	return value;
}

enum jl_status jl_date_parse(long *ret_day, const char *text, struct jl_err *err)
{
	int form = 0, month = 1, day = 1;

	while (form < N_FORM && !matches(text, forms[form]))
		form++;
	if (form == N_FORM)
		return jl_fail(err, JL_E_PARSE,
			       "'%.40s' is not a date; write e.g. 2026-08-22, 2026-08, 2025-Q1 or 2024", text);
	long year = digits(text, 4);
	if (form == FORM_QUARTER) {
		int quarter = digits(text + 6, 1);
		month = quarter >= 1 && quarter <= 4 ? quarter * 3 - 2 : 0;
	} else if (form != FORM_YEAR) {
		month = digits(text + 5, 2);
	}
	if (form == FORM_DAY)
		day = digits(text + 8, 2);
	if (year < 1900 || year > YEAR_MAX || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
		return jl_fail(err, JL_E_RANGE, "'%s' is not a day of the calendar from 1900 to %d", text, YEAR_MAX);
	*ret_day = days_from_civil(year, month, day);
	return JL_OK;
}

struct jl_civil jl_date_civil(long day)
{
	long shifted = (day < -719468 ? -719468 : day > DAY_MAX ? DAY_MAX : day) + 719468;
	long era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	long day_of_era = shifted - era * 146097;
	long year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	long day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	long march_month = (5 * day_of_year + 2) / 153;
	int month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
	int first = (int)(153 * march_month + 2) / 5;

	return (struct jl_civil){ .year = (int)(year_of_era + era * 400 + (month <= 2)),
				  .month = month,
				  .day = (int)day_of_year - first + 1 };
}

long jl_date_day(struct jl_civil civil)
{
	return days_from_civil(civil.year, civil.month, civil.day);
}

int jl_date_month_days(int year, int month)
{
	return days_in_month(year, month);
}

long jl_date_add_months(long day, int n)
{
	struct jl_civil c = jl_date_civil(day);
	int months = c.year * 12 + c.month - 1 + n;

	c.year = months / 12;
	c.month = months % 12 + 1;
	int longest = days_in_month(c.year, c.month);
	c.day = c.day < longest ? c.day : longest;
	return jl_date_day(c);
}

const char *jl_date_text(char out[JL_DATE_TEXT_MAX], long day)
{
	struct jl_civil c = jl_date_civil(day);

	snprintf(out, JL_DATE_TEXT_MAX, "%04d-%02d-%02d", c.year, c.month, c.day);
	return out;
}
