/* json_utc.c - writes wall times. */
#include "json/json.h"

#define NS 1000000000u
#define DAY 86400u
#define DAYS_OF_400_YEARS 146097u

/* Writes two digits and the character after them. */
static char *put_two(char *at, unsigned int v, char end)
{
	at[0] = (char)('0' + v / 10);
	at[1] = (char)('0' + v % 10);
	at[2] = end;
	return at + 3;
}

/* Writes the date of a day since 1970-01-01. Counts years from March, so that a leap day is the
 * last of its year, and months of 31 and 30 days repeat every five months, or 153 days. */
static char *put_date(char *at, uint64_t day)
{
	const uint64_t since = day + 719468;	/* days since 0000-03-01 */
	const unsigned int of_era = (unsigned int)(since % DAYS_OF_400_YEARS);
	const unsigned int year =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const unsigned int of_year = of_era - (365 * year + year / 4 - year / 100);
	const unsigned int month = (5 * of_year + 2) / 153;	/* 0: March */
	const unsigned int shown = (unsigned int)(since / DAYS_OF_400_YEARS) * 400 + year +
				   (month >= 10);

	pd_store_four(at, pd_four_digits(shown));
	at[4] = '-';
	at = put_two(at + 5, month < 10 ? month + 3 : month - 9, '-');
	return put_two(at, of_year - (153 * month + 2) / 5 + 1, 'T');
}

/* Renders a second, which most records share with the one before. */
static void set_second(struct pd_json_second *s, uint64_t second)
{
	const unsigned int of_day = (unsigned int)(second % DAY);
	char *at = put_date(s->text, second / DAY);

	at = put_two(at, of_day / 3600, ':');
	at = put_two(at, of_day / 60 % 60, ':');
	put_two(at, of_day % 60, '.');
	s->second = second;
}

void pd_json_utc(struct pd_json *j, uint64_t time)
{
	const struct pd_attr *a = j->record ? j->record->attr : NULL;
	char *at = (pd_jsonw_room(&j->w), j->w.at);
	uint32_t fraction;
	uint64_t ns;

	if (!a || !pd_session_utc(j->session, a, time, &ns))
		return;
	if (ns / NS != j->second.second)
		set_second(&j->second, ns / NS);
	fraction = (uint32_t)(ns % NS);
	memcpy(at, ",\"time_utc\":\"", 13);
	memcpy(at + 13, j->second.text, sizeof(j->second.text));
	at += 13 + sizeof(j->second.text);
	*at++ = (char)('0' + fraction / 100000000);
	pd_write_eight_digits(at, fraction % 100000000);
	memcpy(at + 8, "Z\"", 2);
	j->w.at = at + 10;
}
