/* describe_record.c - the schema of a record: its own fields between the keys that all records
 * have. */
#include "layout/names_tables.h"
#include "schema/describe_values.h"

/* Adds the keys before a record's own fields. */
static void add_leading_keys(struct pd_members *m, const struct pd_record_desc *d)
{
	pd_members_add(m, "kind", "", "'description':'in JSON Lines only','const':'record'");
	pd_members_add(m, "offset", "",
		       "'description':'offset of its header in the file'," NUMBER_64);
	pd_members_add(m, "inner_offset", "",
		"'description':'offset in the decompressed stream; `offset` is that of the "
		"compressed record'," NUMBER_64);
	pd_members_add(m, "file", "", "'description':'in a directory: data.N','type':'string'");
	pd_members_add(m, "type_id", "", d ?
		       "'description':'number that its header states, if it is damaged and its "
		       "bytes are those of this type','type':'integer'," PD_RANGE_U32 :
		       "'type':'integer'," PD_RANGE_U32);
	pd_members_add(m, "size", "",
		"'description':'size in bytes, as the header "
		"states','type':'integer','minimum':0,'maximum':65535");
	pd_members_add(m, "cut", "",
		       "'description':'number of bytes present of a truncated "
		       "record','type':'integer',"
		PD_RANGE_U32);
	pd_members_add(m, "misc", "",
		       "'description':'misc of its header','type':'integer','minimum':0,"
		"'maximum':65535");
	if (!d || d->type < PD_RECORD_USER_START) {
		pd_members_add(m, "attr_index", "",
			"'description':'index of its event in "
			"attrs','type':'integer'," PD_RANGE_U32);
		pd_members_add(m, "event", "", "'description':'name of the event','type':'string'");
	}
}

/* Writes the keys that come from misc. */
static void write_misc(const struct pd_record_desc *d, struct pd_buf *b)
{
	if (d->cpumode) {
		pd_text_json(b, "'cpumode':{");
		pd_text_member(b, "description", "CPU mode");
		pd_describe_enum(pd_names_cpumode, 3, b);
		pd_text_close(b, '}');
	}
	if (d->misc) {
		pd_text_json(b, "'misc_flags':{");
		pd_text_member(b, "description", "bits of misc");
		pd_describe_names(d->misc, b);
		pd_text_json(b, "'minItems':1}");
	}
}

/* Adds the keys of a SAMPLE that a history knows. */
static void add_resolved_keys(struct pd_members *m)
{
	pd_members_add(m, "comm", "", "'description':'name of the thread at that time (only with "
		       "--resolve)','type':'string'");
	pd_members_add(m, "comm", "_hex", TEXT_HEX);
	pd_members_add(m, "machine_pid", "", "'description':'process of the virtual machine that "
		       "it is of (only with --resolve)','type':'integer','minimum':1");
	pd_members_add(m, "vcpu", "", "'description':'CPU of the virtual machine (only with "
		       "--resolve)','type':'integer','minimum':0");
	pd_members_add(m, "frames", "",
		       "'description':'ip and callchain or unwound stack, innermost first (only "
		       "with --resolve)','type':'array',"
		       "'items':{'$ref':'frame.schema.json'}");
	pd_members_add(m, "frame_ids", "",
		       "'description':'in place of frames: id of each among the frames of the file "
		       "(only with --symbols=table)','type':'array','items':{'type':'string',"
		       "'pattern':'" FRAME_ID "'}");
	pd_members_add(m, "branch_frame_ids", "",
		       "'description':'in place of branch_frames (only with --symbols=table)',"
		       "'type':'array','items':{" CLOSED "'required':['from','to'],'properties':{"
		       "'from':{'type':'string','pattern':'" FRAME_ID "'},"
		       "'to':{'type':'string','pattern':'" FRAME_ID "'}}}");
	pd_members_add(m, "stack_end", "",
		       "'description':'why the unwound stack ends there, at BOTTOM or before "
		       "(only with --symbols)',"
		       "'enum':['BOTTOM','STACK_CUT','OTHER_STACK','NO_MAP','NO_FILE','MISMATCH',"
		       "'NO_CFI','BAD_CFI','NO_PROGRESS','MAX_FRAMES','NO_ARCH','LIMIT']");
	pd_members_add(m, "addr_frame", "",
		       "'description':'where addr is, with the variable in place of a function "
		       "(only with --resolve)','$ref':'frame.schema.json'");
	pd_members_add(m, "addr_frame_id", "",
		       "'description':'in place of addr_frame (only with --symbols=table)',"
		       "'type':'string','pattern':'" FRAME_ID "'");
	pd_members_add(m, "branch_frames", "",
		       "'description':'for each of branch_stack.entries (only with --resolve)',"
		       "'type':'array','items':{" CLOSED "'required':['from','to'],'properties':{"
		       "'from':{'$ref':'frame.schema.json'},'to':{'$ref':'frame.schema.json'}}}");
}

/* Adds the keys after a record's own fields. */
static void add_trailing_keys(struct pd_members *m, const struct pd_record_desc *d)
{
	if (!d || d->opaque || d->type == PD_RECORD_SAMPLE || d->type == PD_RECORD_READ)
		pd_members_add(m, "body", "", d && !d->opaque ?
			"'description':'the body, if its event is unknown'," HEX :
			"'description':'bytes after the header'," HEX);
	if (!d || d->opaque)
		return;
	if (d->type == PD_RECORD_SAMPLE)
		add_resolved_keys(m);
	if (d->trailer != PD_TRAILER_NONE)
		pd_members_add(m, "sample_id", "", "'$ref':'sample_id.schema.json'");
	pd_members_add(m, "trailing", "",
		       "'description':'bytes after the last known field; empty if fields are "
		       "missing and no "
		"bytes are left'," HEX);
	if (d->payload)
		pd_members_add(m, "data", "", "'description':'the payload'," HEX);
}

void pd_describe_record(const struct pd_record_desc *d, struct pd_arena *arena, struct pd_buf *b)
{
	struct pd_members fields, head, tail;

	pd_members_init(&head, arena);
	pd_members_init(&fields, arena);
	pd_members_init(&tail, arena);
	add_leading_keys(&head, d);
	if (d)
		pd_members_of_rows(&fields, d->fields);
	add_trailing_keys(&tail, d);
	pd_text_json(b, CLOSED "'required':['offset','type','size','misc'");
	if (!d)
		pd_text_json(b, "'type_id','body'");
	else if (d->opaque)
		pd_text_json(b, "'body'");
	pd_text_close(b, ']');
	pd_text_key(b, "properties");
	pd_text_open(b, '{');
	pd_text_format(b, "'type':{'const':'%s'}", d ? d->name : "UNKNOWN");
	pd_members_write(&head, b);
	if (d)
		write_misc(d, b);
	pd_members_write(&fields, b);
	pd_members_write(&tail, b);
	pd_text_close(b, '}');
	if (!d || !pd_members_any_required(&fields))
		return;
	/* a record that ends early has `trailing` */
	pd_text_json(b, "'anyOf':[{");
	pd_members_required(&fields, b);
	pd_text_json(b, "},{'required':['trailing']}");
	if (d->type == PD_RECORD_READ)
		pd_text_json(b, "{'required':['body']}");
	pd_text_close(b, ']');
}
