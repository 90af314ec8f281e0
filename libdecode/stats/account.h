/* account.h - how the bytes of the input are divided: an object of summary and statistics. */
#ifndef PD_STATS_ACCOUNT_H
#define PD_STATS_ACCOUNT_H

#include "base/jsonw.h"
#include "pd/pd.h"

/* Writes the key "account" with its object. */
void pd_account_write(struct pd_jsonw *w, const struct pd_reader *r);

#endif
