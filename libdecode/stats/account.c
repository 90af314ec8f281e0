/* account.c - writes the account: how the bytes of the input are divided. */
#include "stats/account.h"

void pd_account_write(struct pd_jsonw *w, const struct pd_reader *r)
{
	struct pd_account a = { .size = sizeof(a) };
	const struct {
		const char *key;
		const uint64_t *bytes;
	} members[] = {
		{ "\"total\":", &a.total }, { ",\"header\":", &a.header },
		{ ",\"features\":", &a.features }, { ",\"records\":", &a.records },
		{ ",\"skipped\":", &a.skipped }, { ",\"gaps\":", &a.gaps },
		{ ",\"zeros\":", &a.zeros }, { ",\"unread\":", &a.unread },
			{ ",\"unwritten\":", &a.unwritten },
		{ ",\"unexpanded\":", &a.unexpanded },
	};

	pd_reader_account(r, &a);
	PD_JSONW_KEY(w, "account");
	pd_jsonw_char(w, '{');
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		pd_jsonw_raw(w, members[i].key, strlen(members[i].key));
		pd_jsonw_unsigned(w, *members[i].bytes);
	}
	pd_jsonw_char(w, '}');
}
