/* preport_choices.h - the options of preport, checked and evaluated. */
#ifndef PREPORT_CHOICES_H
#define PREPORT_CHOICES_H

#include "files/max_output.h"
#include "preport/preport_formats.h"
#include "preport/preport_options.h"
#include "preport/preport_table.h"

struct choices {
	const struct settings *s;	/* the first two are given */
	const struct format *format;
	struct max_output max_output;
	struct table table;
	enum pp_graph graph;
	struct pp_script script;
	uint32_t groups;	/* of enum pp_group */
	uint32_t marks;		/* of enum pp_mark */
	uint32_t labels;	/* of enum pp_label */
	double min_percent, percent_limit;
};

/* Sets the other members. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit choices_make(struct choices *c);

enum pp_state choices_state(const struct choices *c);
enum pp_keep choices_keep(const struct choices *c);
/* Returns whether samples must come in the order of time. */
bool choices_need_order(const struct choices *c);
/* Returns whether only the main event's samples are written. */
bool choices_show_one_event(const struct choices *c);
struct pp_shape choices_shape(const struct choices *c);
/* Sets all members but those that depend on the recording or the terminal. */
struct pp_write choices_write(const struct choices *c);

#endif
