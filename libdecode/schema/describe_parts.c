/* describe_parts.c - the schemas of what is around the fields: document, lines, the keys that every record has. */
#include "schema/describe.h"

#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"
#include "pd/error.h"

#define USER_TYPES 64		/* from here on records are perf's own and belong to no event */
#define NUMBER_64 "'type':'integer'," PD_RANGE_U64
#define HEX "'type':'string','pattern':'" PD_PATTERN_HEX "'"
#define SOME_HEX "'type':'string','pattern':'^([0-9a-f]{2})+$'"
#define KIND(name) "'kind':{'description':'in JSON Lines only','const':'" name "'}"
#define CLOSED "'type':'object','additionalProperties':false,"

/* A part of the document: without what only its line has. */
#define IN_DOCUMENT(file, without) "'$ref':'" file ".schema.json','properties':{" without "}"

static void document(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['pdecode','file','attrs','features','records','errors','summary'],"
		"'properties':{"
		"'pdecode':{'$ref':'file.schema.json#/$defs/pdecode'},"
		"'file':{" IN_DOCUMENT("file", "'kind':false,'pdecode':false") "},"
		"'attrs':{'description':'the events','type':'array','items':{"
			IN_DOCUMENT("attr", "'kind':false") "}},"
		"'features':{'$ref':'features.schema.json'},"
		"'records':{'type':'array','items':{" IN_DOCUMENT("record", "'kind':false") "}},"
		"'errors':{'description':'what is wrong with the file','type':'array','items':{"
			IN_DOCUMENT("error", "'kind':false") "}},"
		"'summary':{" IN_DOCUMENT("summary", "'kind':false") "}"
		"}");
}

static void line(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, "'type':'object','required':['kind'],'oneOf':["
		"{'$ref':'file.schema.json','required':['pdecode']},"
		"{'$ref':'attr.schema.json'},"
		"{'$ref':'feature.schema.json'},"
		"{'$ref':'record.schema.json'},"
		"{'$ref':'error.schema.json'},"
		"{'$ref':'summary.schema.json'}]");
}

/* Schema members of a feature's name. */
static void feature_name(struct pd_buf *b)
{
	pd_text_json(b, "'type':'string','anyOf':[{'enum':[");
	for (size_t i = 0; pd_feature_desc_at(i); i++)
		pd_text_string(b, pd_feature_desc_at(i)->field->name);
	pd_text_json(b, "]},{'pattern':'^FEATURE_(0|[1-9][0-9]{0,2})$'}]");
}

static void sections(struct pd_buf *b)
{
	pd_text_json(b, "'sections':{'description':'where everything lies','type':'array','items':{" CLOSED
		"'required':['name','offset','size'],'properties':{"
		"'name':{'anyOf':["
			"{'enum':['header','attrs','ids','data','event_types','feature_table']},"
			"{'$ref':'#/$defs/feature'}]},"
		"'attr_index':{'description':'whose ids','type':'integer'," PD_RANGE_U32 "},"
		"'unread':{'description':'1: it is said to be more than the file can hold','const':1},"
		"'offset':{" NUMBER_64 "},'size':{" NUMBER_64 "}}}}");
}

static void file(struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_json(b, CLOSED
		"'required':['mode','byte_order','header_size','complete'],"
		"'properties':{" KIND("file") ","
		"'pdecode':{'$ref':'#/$defs/pdecode'},"
		"'mode':{'description':'how it was recorded','enum':['file','pipe','directory']},"
		"'byte_order':{'enum':['little','big']},"
		"'magic':{'description':'of perf before 3.4','const':'PERFFILE'},"
		"'size':{'description':'bytes, where they can be known'," NUMBER_64 "},"
		"'header_size':{'description':'bytes of the header: 16 for a pipe'," NUMBER_64 "},"
		"'attr_size':{'description':'bytes of an entry of attrs'," NUMBER_64 "},"
		"'data_offset':{'description':'where the records begin'," NUMBER_64 "},"
		"'data_size':{'description':'bytes of records; 0: the recorder was killed'," NUMBER_64 "},"
		"'long_size':{'description':'bytes of a word of the feature bits','enum':[4,8]},"
		"'adds_features':{'description':'the feature bits of the header','type':'array',"
			"'uniqueItems':true,'items':{'$ref':'#/$defs/feature'}},"
		"'complete':{'description':'the recorder finished, and the end is there','type':'boolean'},"
		"'files':{'description':'of a directory','type':'array','items':{'type':'string'}}");
	sections(b);
	pd_text_json(b, "'event_types':{'description':'names of events (perf before 3.12)','type':'array','items':{");
	pd_describe_object(pd_event_type_fields, arena, b);
	pd_text_json(b, "}},"
		"'gaps':{'description':'bytes that belong to nothing and are not 0','type':'array',"
			"'items':{" CLOSED "'required':['offset','data'],'properties':{"
			"'offset':{" NUMBER_64 "},'data':{" HEX "}}}}},"
		"'$defs':{'pdecode':{'description':'of this output'," CLOSED
			"'required':['format','version'],'properties':{"
			"'format':{'const':1},'version':{'type':'string'}}},"
		"'feature':{");
	feature_name(b);
	pd_text_json(b, "}}");
}

static void attr(struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_json(b, CLOSED "'required':['index','name','ids'],'properties':{" KIND("attr") ","
		"'index':{'description':'as in attr_index of records','type':'integer'," PD_RANGE_U32 "},"
		"'name':{'description':'the event, as perf would show it','type':'string'},"
		"'ids':{'type':'array','items':{" NUMBER_64 "}},"
		"'attr':{'$ref':'#/$defs/perf_event_attr'},"
		"'restored':{'description':'damaged in the header: `attr` is the copy in EVENT_DESC, the bytes of the header "
		"are in `gaps`','const':true},"
		"'padding':{'description':'bytes behind it in the entry, where they are not all 0'," HEX "},"
		"'trailing':{'description':'bytes that are no whole attribute'," SOME_HEX "}},"
		"'anyOf':[{'required':['attr']},{'required':['trailing']}],"
		"'$defs':{'perf_event_attr':{");
	pd_describe_object(pd_attr_fields[0].fields, arena, b);
	pd_text_close(b, '}');
	pd_text_close(b, '}');
}

static void features(struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_json(b, CLOSED "'properties':{");
	for (size_t i = 0; pd_feature_desc_at(i); i++) {
		const struct pd_field *row = pd_feature_desc_at(i)->field;
		struct pd_members m;

		pd_members_init(&m, arena);
		pd_members_of_rows(&m, row);
		pd_members_write(&m, b);
		pd_text_key2(b, row->name, "_raw");
		pd_text_json(b, "{'$ref':'#/$defs/raw'}");
	}
	pd_text_json(b, "},'patternProperties':{'^FEATURE_(0|[1-9][0-9]{0,19})$':{"
		"'description':'a feature nobody has described'," CLOSED
		"'required':['raw'],'properties':{'raw':{" HEX "}}}},"
		"'$defs':{'raw':{'description':'the bytes, where the value does not give them back',"
		HEX "}}");
}

static void feature(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED "'required':['kind','feature'],'properties':{'kind':{'const':'feature'},"
		"'feature':{'$ref':'features.schema.json','minProperties':1,'maxProperties':3}}");
}

static void record(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, "'type':'object','required':['offset','type'],'oneOf':[");
	for (size_t i = 0; pd_record_desc_at(i); i++)
		pd_text_format(b, "{'$ref':'record-%s.schema.json'}", pd_record_desc_at(i)->name);
	pd_text_json(b, "{'$ref':'#/$defs/UNKNOWN'}");
	pd_text_json(b, "{'$ref':'#/$defs/SKIPPED'}]");
	pd_text_json(b, "'$defs':{'UNKNOWN':{");
	pd_describe_record(NULL, arena, b);
	pd_text_json(b, "},'SKIPPED':{'description':'bytes that are no record'," CLOSED
		"'required':['offset','type','body'],'properties':{" KIND("record") ","
		"'offset':{" NUMBER_64 "},'inner_offset':{" NUMBER_64 "},'file':{'type':'string'},"
		"'type':{'const':'SKIPPED'},'body':{" HEX "},"
		"'zeros':{'description':'bytes to the end of the file, all zero; body is empty'," NUMBER_64 "}}}}");
}

static void error(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['offset','code','severity','want','have','skipped','message'],"
		"'properties':{" KIND("error") ","
		"'offset':{'description':'of the record or section'," NUMBER_64 "},"
		"'file':{'description':'in a directory: data.N','type':'string'},'code':{'enum':[");
	for (unsigned int code = PD_OK + 1; strcmp(pd_code_name(code), "UNKNOWN") != 0; code++)
		pd_text_string(b, pd_code_name(code));
	pd_text_json(b, "]},"
		"'severity':{'description':'damaged: the rest goes on; fatal: nothing follows',"
			"'enum':['damaged','fatal']},"
		"'record':{'description':'its type, or the section','type':'string'},"
		"'field':{'description':'where in it','type':'string'},"
		"'want':{'description':'bytes that the field asks for'," NUMBER_64 "},"
		"'have':{'description':'bytes that are left'," NUMBER_64 "},"
		"'skipped':{'description':'bytes that no record holds because of this'," NUMBER_64 "},"
		"'message':{'description':'for people','type':'string'}}");
}

static void summary(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['records','by_type','lost','lost_samples','errors','skipped','account','complete'],"
		"'properties':{" KIND("summary") ","
		"'records':{'description':'how many'," NUMBER_64 "},"
		"'by_type':{'description':'how many of each type','type':'object',"
			"'additionalProperties':{'type':'integer','minimum':1,'maximum':18446744073709551615},"
			"'propertyNames':{'enum':[");
	for (size_t i = 0; pd_record_desc_at(i); i++)
		pd_text_string(b, pd_record_desc_at(i)->name);
	pd_text_string(b, "UNKNOWN");
	pd_text_json(b, "]}},"
		"'lost':{'description':'records lost, as LOST records say'," NUMBER_64 "},"
		"'lost_samples':{'description':'samples lost, as LOST_SAMPLES records say'," NUMBER_64 "},"
		"'first_time':{'description':'ns; the times of samples and trailers'," NUMBER_64 "},"
		"'last_time':{'description':'ns'," NUMBER_64 "},"
		"'errors':{'description':'how many'," NUMBER_64 "},"
		"'skipped':{'description':'bytes that are no record, in compressed ones too'," NUMBER_64 "},"
		"'account':{'description':'where the (unpacked) bytes are: the first parts, up to unread, make total'," CLOSED
			"'required':['total','header','features','records','skipped','gaps','zeros','unread','unwritten',"
				"'unexpanded'],"
			"'properties':{'total':{" NUMBER_64 "},"
			"'header':{'description':'the header, attributes, ids and names of events'," NUMBER_64 "},"
			"'features':{'description':'the feature table and the sections'," NUMBER_64 "},"
			"'records':{'description':'with the data after them; damaged ones, too'," NUMBER_64 "},"
			"'skipped':{'description':'bytes that are no record: entries of type SKIPPED'," NUMBER_64 "},"
			"'gaps':{'description':'bytes that belong to nothing'," NUMBER_64 "},"
			"'zeros':{'description':'bytes between sections that are zero'," NUMBER_64 "},"
			"'unread':{'description':'bytes that the decoder did not come to'," NUMBER_64 "},"
			"'unwritten':{'description':'part of skipped: zeros up to the end of the records'," NUMBER_64 "},"
			"'unexpanded':{'description':'part of records: compressed ones that are not expanded to their end',"
				NUMBER_64 "}}},"
		"'filtered':{'description':'records that were asked to be left out'," NUMBER_64 "},"
		"'complete':{'description':'as in file, known at the end','type':'boolean'}},"
		"'dependentRequired':{'first_time':['last_time'],'last_time':['first_time']}");
}

#define COUNTED "'records':{'description':'how many'," NUMBER_64 "},'bytes':{'description':'of them, data behind included'," \
	NUMBER_64 "}"

/* Keys that are those of another part. */
static void same_keys(struct pd_buf *b, const char *part, const char *const *keys)
{
	for (; *keys; keys++)
		pd_text_format(b, "'%s':{'$ref':'%s.schema.json#/properties/%s'}", *keys, part, *keys);
}

static void stats(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['pdecode','file','records','bytes','by_type','by_event','lost','lost_samples','throttled','errors',"
			"'errors_by_code','damaged','skipped','account'],"
		"'properties':{'pdecode':{'$ref':'file.schema.json#/$defs/pdecode'},"
		"'file':{" CLOSED "'required':['mode','byte_order','complete'],'properties':{");
	same_keys(b, "file", (const char *const[]){ "mode", "byte_order", "size", "data_offset", "data_size", "complete", NULL });
	pd_text_json(b, "'perf_version':{'description':'feature VERSION','type':'string'}}},"
		COUNTED ","
		"'filtered':{'$ref':'summary.schema.json#/properties/filtered'},"
		"'by_type':{'description':'of each type','type':'object','additionalProperties':{"
			CLOSED "'required':['records','bytes'],'properties':{" COUNTED "}},"
			"'propertyNames':{'$ref':'summary.schema.json#/properties/by_type/propertyNames'}},"
		"'by_event':{'description':'of each event, all its records','type':'array','items':{" CLOSED
			"'required':['attr_index','event','records','bytes','samples'],'properties':{"
			"'attr_index':{'description':'index in attrs','type':'integer'," PD_RANGE_U32 "},"
			"'event':{'description':'its name','type':'string'}," COUNTED ","
			"'samples':{'description':'how many'," NUMBER_64 "},"
			"'period':{'description':'of all of them, modulo 2^64'," NUMBER_64 "}}}}");
	same_keys(b, "summary", (const char *const[]){
		  "first_time", "last_time", "lost", "lost_samples", "errors", "skipped", "account",
		  NULL });
	pd_text_json(b, "'duration':{'description':'ns from the first time to the last'," NUMBER_64 "},"
		"'throttled':{'description':'THROTTLE records'," NUMBER_64 "},"
		"'errors_by_code':{'type':'object','additionalProperties':{" NUMBER_64 "},"
			"'propertyNames':{'$ref':'error.schema.json#/properties/code'}},"
		"'damaged':{'description':'records that could be read in part'," NUMBER_64 "},"
		"'compressed':{'description':'compressed records'," CLOSED "'required':['records','in','out'],'properties':{"
			"'records':{'description':'how many'," NUMBER_64 "},'in':{'description':'their bytes'," NUMBER_64 "},"
			"'out':{'description':'bytes that came out of them'," NUMBER_64 "}}}},"
		"'dependentRequired':{'first_time':['last_time','duration'],'last_time':['first_time']}");
}

static void sample_id(struct pd_arena *arena, struct pd_buf *b)
{
	pd_describe_object(pd_sample_id_fields, arena, b);
}

const struct pd_part pd_parts[] = {
	{ "document", "pdecode --format json", "A perf.data file as one JSON document.", document },
	{ "line", "pdecode --format jsonl", "A line: a part of the document, told by its `kind`.", line },
	{ "file", "file", "What a perf.data file says about itself.", file },
	{ "attr", "attr", "An event: struct perf_event_attr, its ids and its name.", attr },
	{ "feature", "feature", "A line with a feature section of the file's header.", feature },
	{ "features", "features", "Feature sections by name, each as its parts.", features },
	{ "record", "record", "A record of any type.", record },
	{ "sample_id", "sample_id", "What identifies a record that is no sample (sample_id_all).", sample_id },
	{ "error", "error", "What is wrong at a place of the file.", error },
	{ "summary", "summary", "What was found in all.", summary },
	{ "stats", "pdecode --format stats", "What is in a perf.data file, counted.", stats },
	{ .name = NULL },
};

/* The keys before a record's own fields. */
static void common(struct pd_members *m, const struct pd_record_desc *d)
{
	pd_members_add(m, "kind", "", "'description':'in JSON Lines only','const':'record'");
	pd_members_add(m, "offset", "", "'description':'where its header lies in the file'," NUMBER_64);
	pd_members_add(m, "inner_offset", "",
		"'description':'its place in the decompressed stream; offset is the compressed record'," NUMBER_64);
	pd_members_add(m, "file", "", "'description':'in a directory: data.N','type':'string'");
	if (!d)
		pd_members_add(m, "type_id", "", "'type':'integer'," PD_RANGE_U32);
	pd_members_add(m, "size", "",
		"'description':'bytes, as its header says','type':'integer','minimum':0,'maximum':65535");
	pd_members_add(m, "cut", "", "'description':'bytes of it that are there','type':'integer',"
		PD_RANGE_U32);
	pd_members_add(m, "misc", "", "'description':'of its header','type':'integer','minimum':0,"
		"'maximum':65535");
	if (!d || d->type < USER_TYPES) {
		pd_members_add(m, "attr_index", "",
			"'description':'its event: index in attrs','type':'integer'," PD_RANGE_U32);
		pd_members_add(m, "event", "", "'description':'its name','type':'string'");
	}
}

/* What its misc says. */
static void misc(const struct pd_record_desc *d, struct pd_buf *b)
{
	if (d->cpumode) {
		pd_text_json(b, "'cpumode':{");
		pd_text_member(b, "description", "where the cpu was");
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

/* The keys behind them. */
static void around(struct pd_members *m, const struct pd_record_desc *d)
{
	if (!d || d->opaque || d->type == PD_RECORD_SAMPLE || d->type == PD_RECORD_READ)
		pd_members_add(m, "body", "", d && !d->opaque ?
			"'description':'all of it, where its event is not known'," HEX :
			"'description':'all behind its header'," HEX);
	if (!d || d->opaque)
		return;
	if (d->trailer != PD_TRAILER_NONE)
		pd_members_add(m, "sample_id", "", "'$ref':'sample_id.schema.json'");
	pd_members_add(m, "trailing", "", "'description':'bytes that the layout does not explain; empty where fields are "
		"missing and no bytes are left'," HEX);
	if (d->payload)
		pd_members_add(m, "data", "", "'description':'the bytes behind the record'," HEX);
}

void pd_describe_record(const struct pd_record_desc *d, struct pd_arena *arena, struct pd_buf *b)
{
	struct pd_members fields, head, tail;

	pd_members_init(&head, arena);
	pd_members_init(&fields, arena);
	pd_members_init(&tail, arena);
	common(&head, d);
	if (d)
		pd_members_of_rows(&fields, d->fields);
	around(&tail, d);
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
		misc(d, b);
	pd_members_write(&fields, b);
	pd_members_write(&tail, b);
	pd_text_close(b, '}');
	if (!d || !pd_members_any_required(&fields))
		return;
	/* what ends early says so */
	pd_text_json(b, "'anyOf':[{");
	pd_members_required(&fields, b);
	pd_text_json(b, "},{'required':['trailing']}");
	if (d->type == PD_RECORD_READ)
		pd_text_json(b, "{'required':['body']}");
	pd_text_close(b, ']');
}
