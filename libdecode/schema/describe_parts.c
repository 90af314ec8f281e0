/* describe_parts.c - the schemas of everything around the records: document, lines, file, errors,
 * totals. */
#include <string.h>

#include "layout/container.h"
#include "pd/error.h"
#include "schema/describe_values.h"

/* A part of the document: without the keys that only lines have. */
#define IN_DOCUMENT(file, without) "'$ref':'" file ".schema.json','properties':{" without "}"

static void describe_document(struct pd_arena *arena, struct pd_buf *b)
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
		"'frames':{'description':'the frames that frame_ids refer to (only with "
			"--symbols=table)','type':'array','items':{"
			IN_DOCUMENT("table_frame", "'kind':false") "}},"
		"'images':{'description':'what was mapped (only with --resolve)','type':'array',"
			"'items':{" IN_DOCUMENT("image", "'kind':false") "}},"
		"'errors':{'description':'damage in the file','type':'array','items':{"
			IN_DOCUMENT("error", "'kind':false") "}},"
		"'summary':{" IN_DOCUMENT("summary", "'kind':false") "}"
		"}");
}

static void describe_line(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, "'type':'object','required':['kind'],'oneOf':["
		"{'$ref':'file.schema.json','required':['pdecode']},"
		"{'$ref':'attr.schema.json'},"
		"{'$ref':'feature.schema.json'},"
		"{'$ref':'record.schema.json'},"
		"{'$ref':'table_frame.schema.json'},"
		"{'$ref':'image.schema.json'},"
		"{'$ref':'error.schema.json'},"
		"{'$ref':'summary.schema.json'}]");
}

/* Writes the schema members of a feature's name. */
static void describe_feature_name(struct pd_buf *b)
{
	pd_text_json(b, "'type':'string','anyOf':[{'enum':[");
	for (size_t i = 0; pd_feature_desc_at(i); i++)
		pd_text_string(b, pd_feature_desc_at(i)->field->name);
	pd_text_json(b, "]},{'pattern':'^FEATURE_(0|[1-9][0-9]{0,2})$'}]");
}

static void describe_sections(struct pd_buf *b)
{
	pd_text_json(b,
		     "'sections':{'description':'the sections of the "
		     "file','type':'array','items':{" CLOSED
		"'required':['name','offset','size'],'properties':{"
		"'name':{'anyOf':["
			"{'enum':['header','attrs','ids','data','event_types','feature_table',"
				"'own_feature_table']},"
			"{'$ref':'#/$defs/feature'}]},"
		"'attr_index':{'description':'event of the ids','type':'integer'," PD_RANGE_U32 "},"
		"'unread':{'description':'1: its stated size exceeds the file or the memory "
			"limit','const':1},"
		"'offset':{" NUMBER_64 "},'size':{" NUMBER_64 "}}}}");
}

static void describe_file(struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_json(b, CLOSED
		"'required':['mode','byte_order','header_size','complete'],"
		"'properties':{" KIND("file") ","
		"'pdecode':{'$ref':'#/$defs/pdecode'},"
		"'mode':{'description':'container of the "
		"recording','enum':['file','pipe','directory']},"
		"'byte_order':{'enum':['little','big']},"
		"'magic':{'description':'magic of perf before 3.4','const':'PERFFILE'},"
		"'magic_hex':{'description':'a damaged magic','type':'string',"
			"'pattern':'^[0-9a-f]{16}$'},"
		"'size':{'description':'size in bytes, if known'," NUMBER_64 "},"
		"'header_size':{'description':'size of the header in bytes, 16 for a "
		"pipe'," NUMBER_64 "},"
		"'attr_size':{'description':'size of an entry of attrs in bytes'," NUMBER_64 "},"
		"'data_offset':{'description':'offset of the records'," NUMBER_64 "},"
		"'data_size':{'description':'size of the records in bytes; 0: the recorder was "
		"killed'," NUMBER_64 "},"
		"'long_size':{'description':'size of a word of the feature bits','enum':[4,8]},"
		"'adds_features':{'description':'feature bits of the header','type':'array',"
			"'uniqueItems':true,'items':{'$ref':'#/$defs/feature'}},"
		"'complete':{'description':'the recorder finished and the file is not "
		"truncated','type':'boolean'},"
		"'files':{'description':'files of a "
		"directory','type':'array','items':{'type':'string'}}");
	describe_sections(b);
	pd_text_json(b,
		     "'event_types':{'description':'names of events (perf before "
		     "3.12)','type':'array','items':{");
	pd_describe_object(pd_event_type_fields, arena, b);
	pd_text_json(b, "}},"
		"'gaps':{'description':'non-zero bytes that belong to no section','type':'array',"
			"'items':{" CLOSED "'required':['offset','data'],'properties':{"
			"'offset':{" NUMBER_64 "},'data':{" HEX "}}}}},"
		"'$defs':{'pdecode':{'description':'version of this output'," CLOSED
			"'required':['format','version'],'properties':{"
			"'format':{'const':1},'version':{'type':'string'}}},"
		"'feature':{");
	describe_feature_name(b);
	pd_text_json(b, "}}");
}

static void describe_attr(struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_json(b, CLOSED "'required':['index','name','ids'],'properties':{" KIND("attr") ","
		"'index':{'description':'same as attr_index of "
		"records','type':'integer'," PD_RANGE_U32 "},"
		"'name':{'description':'name of the event, as perf shows it','type':'string'},"
		"'ids':{'type':'array','items':{" NUMBER_64 "}},"
		"'attr':{'$ref':'#/$defs/perf_event_attr'},"
		"'restored':{'description':'damaged in the header: `attr` is the copy in "
		"EVENT_DESC, the bytes of the "
		"header are in `gaps`','const':true},"
		"'padding':{'description':'bytes after attr in the entry, if not all 0'," HEX "},"
		"'trailing':{'description':'bytes of an incomplete attr'," SOME_HEX "}},"
		"'anyOf':[{'required':['attr']},{'required':['trailing']}],"
		"'$defs':{'perf_event_attr':{");
	pd_describe_object(pd_attr_fields[0].fields, arena, b);
	pd_text_close(b, '}');
	pd_text_close(b, '}');
}

static void describe_features(struct pd_arena *arena, struct pd_buf *b)
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
		"'description':'an unknown feature'," CLOSED
		"'required':['raw'],'properties':{'raw':{" HEX "}}}},"
		"'$defs':{'raw':{'description':'the bytes, if encoding the value does not "
		"reproduce them',"
		HEX "}}");
}

static void describe_feature(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['kind','feature'],'properties':{'kind':{'const':'feature'},"
		"'feature':{'$ref':'features.schema.json','minProperties':1,'maxProperties':3}}");
}

static void describe_record(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, "'type':'object','required':['offset','type'],'oneOf':[");
	for (size_t i = 0; pd_record_desc_at(i); i++)
		pd_text_format(b, "{'$ref':'record-%s.schema.json'}", pd_record_desc_at(i)->name);
	pd_text_json(b, "{'$ref':'#/$defs/UNKNOWN'}");
	pd_text_json(b, "{'$ref':'#/$defs/SKIPPED'}]");
	pd_text_json(b, "'$defs':{'UNKNOWN':{");
	pd_describe_record(NULL, arena, b);
	pd_text_json(b, "},'SKIPPED':{'description':'bytes that no record holds'," CLOSED
		"'required':['offset','type','body'],'properties':{" KIND("record") ","
		"'offset':{" NUMBER_64 "},'inner_offset':{" NUMBER_64 "},'file':{'type':'string'},"
		"'type':{'const':'SKIPPED'},'body':{" HEX "},"
		"'zeros':{'description':'number of zero bytes up to the end of the file; body is "
		"empty'," NUMBER_64 "}}}}");
}

static void describe_error(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['offset','code','severity','want','have','skipped','message'],"
		"'properties':{" KIND("error") ","
		"'offset':{'description':'offset of the record or section'," NUMBER_64 "},"
		"'file':{'description':'in a directory: data.N','type':'string'},'code':{'enum':[");
	for (unsigned int code = PD_OK + 1; strcmp(pd_code_name(code), "UNKNOWN") != 0; code++)
		pd_text_string(b, pd_code_name(code));
	pd_text_json(b, "]},"
		"'severity':{'description':'damaged: decoding continues; fatal: nothing follows',"
			"'enum':['damaged','fatal']},"
		"'record':{'description':'type of the record, or name of the "
		"section','type':'string'},"
		"'field':{'description':'the field in it','type':'string'},"
		"'want':{'description':'bytes that the field needs'," NUMBER_64 "},"
		"'have':{'description':'bytes that are left'," NUMBER_64 "},"
		"'skipped':{'description':'bytes skipped because of this error'," NUMBER_64 "},"
		"'message':{'description':'readable text','type':'string'}}");
}

#define BY_WORD "'type':'object','minProperties':1,'additionalProperties':{'type':'integer'," \
	"'minimum':1,'maximum':18446744073709551615},'propertyNames':{'pattern':'^[A-Z_]+$'}"

static void describe_summary(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['records','by_type','lost','lost_samples','errors','skipped',"
			"'account','complete'],"
		"'properties':{" KIND("summary") ","
		"'records':{'description':'number'," NUMBER_64 "},"
		"'by_type':{'description':'number of records of each type','type':'object',"
			"'additionalProperties':{'type':'integer','minimum':1,"
				"'maximum':18446744073709551615},"
			"'propertyNames':{'enum':[");
	for (size_t i = 0; pd_record_desc_at(i); i++)
		pd_text_string(b, pd_record_desc_at(i)->name);
	pd_text_string(b, "UNKNOWN");
	pd_text_json(b, "]}},"
		"'lost':{'description':'records lost, by LOST records'," NUMBER_64 "},"
		"'lost_samples':{'description':'samples lost, by LOST_SAMPLES "
		"records'," NUMBER_64 "},"
		"'first_time':{'description':'first time of samples and trailers in "
		"ns, without one that is alone by more than 104 days'," NUMBER_64 "},"
		"'last_time':{'description':'last time in ns, likewise'," NUMBER_64 "},"
		"'errors':{'description':'number'," NUMBER_64 "},"
		"'skipped':{'description':'bytes that no record holds, also inside compressed "
		"records'," NUMBER_64 "},"
		"'account':{'description':'use of the (unpacked) bytes: the parts up to unread add "
		"up to total'," CLOSED
			"'required':['total','header','features','records','skipped','gaps',"
				"'zeros','unread','unwritten','unexpanded'],"
			"'properties':{'total':{" NUMBER_64 "},"
			"'header':{'description':'header, attrs, ids and names of "
			"events'," NUMBER_64 "},"
			"'features':{'description':'feature table and feature "
			"sections'," NUMBER_64 "},"
			"'records':{'description':'records with their payloads, also damaged "
			"ones'," NUMBER_64 "},"
			"'skipped':{'description':'bytes that no record holds: entries of type "
			"SKIPPED'," NUMBER_64 "},"
			"'gaps':{'description':'bytes that belong to no section'," NUMBER_64 "},"
			"'zeros':{'description':'zero bytes between sections'," NUMBER_64 "},"
			"'unread':{'description':'bytes that the decoder did not "
			"reach'," NUMBER_64 "},"
			"'unwritten':{'description':'part of skipped: zeros up to the end of the "
			"records'," NUMBER_64 "},"
			"'unexpanded':{'description':'part of records: compressed records that are "
			"not completely expanded',"
				NUMBER_64 "}}},"
		"'filtered':{'description':'number of records dropped by filters'," NUMBER_64 "},"
		"'frames':{'description':'frames of samples (only with --symbols)'," CLOSED
			"'required':['total','named'],"
			"'properties':{'total':{" NUMBER_64 "},"
			"'named':{'description':'those that have a name'," NUMBER_64 "},"
			"'why':{'description':'those without, by reason'," BY_WORD "},"
			"'stack_ends':{'description':'samples with a copied stack, by the reason "
			"why it ends there'," BY_WORD "}}},"
		"'complete':{'description':'same as in file, known at the end','type':'boolean'}},"
		"'dependentRequired':{'first_time':['last_time'],'last_time':['first_time']}");
}

#define COUNTED "'records':{'description':'number'," NUMBER_64 "},'bytes':{'description':'size " \
							       "in bytes, with payloads'," \
	NUMBER_64 "}"

/* Writes keys that are the same as those of another part. */
static void refer_to_keys(struct pd_buf *b, const char *part, const char *const *keys)
{
	for (; *keys; keys++)
		pd_text_format(b, "'%s':{'$ref':'%s.schema.json#/properties/%s'}", *keys, part,
			       *keys);
}

static void describe_stats(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED
		"'required':['pdecode','file','records','bytes','by_type','by_event','lost',"
			"'lost_samples','throttled','errors','errors_by_code','damaged','skipped',"
			"'account'],"
		"'properties':{'pdecode':{'$ref':'file.schema.json#/$defs/pdecode'},"
		"'file':{" CLOSED "'required':['mode','byte_order','complete'],'properties':{");
	refer_to_keys(b, "file",
		      (const char *const[]){ "mode", "byte_order", "size", "data_offset",
			      "data_size", "complete", NULL });
	pd_text_json(b, "'perf_version':{'description':'feature VERSION','type':'string'}}},"
		COUNTED ","
		"'filtered':{'$ref':'summary.schema.json#/properties/filtered'},"
		"'by_type':{'description':'records of each "
		"type','type':'object','additionalProperties':{"
			CLOSED "'required':['records','bytes'],'properties':{" COUNTED "}},"
			"'propertyNames':{'$ref':'summary.schema.json#/properties/by_type/"
				"propertyNames'}},"
		"'by_event':{'description':'all records of each "
		"event','type':'array','items':{" CLOSED
			"'required':['attr_index','event','records','bytes','samples'],"
			"'properties':{"
			"'attr_index':{'description':'index in "
			"attrs','type':'integer'," PD_RANGE_U32 "},"
			"'event':{'description':'name of the event','type':'string'}," COUNTED ","
			"'samples':{'description':'number'," NUMBER_64 "},"
			"'period':{'description':'sum of the periods, of each sample or fixed for "
			"the event, modulo 2^64'," NUMBER_64 "}}}}");
	refer_to_keys(b, "summary", (const char *const[]){
		      "first_time", "last_time", "lost", "lost_samples", "errors", "skipped",
		      "account", NULL });
	pd_text_json(b, "'duration':{'description':'last_time - first_time in ns'," NUMBER_64 "},"
		"'throttled':{'description':'number of THROTTLE records'," NUMBER_64 "},"
		"'errors_by_code':{'type':'object','additionalProperties':{" NUMBER_64 "},"
			"'propertyNames':{'$ref':'error.schema.json#/properties/code'}},"
		"'damaged':{'description':'number of records decoded in part'," NUMBER_64 "},"
		"'compressed':{'description':'compressed "
		"records'," CLOSED "'required':['records','in','out'],'properties':{"
			"'records':{'description':'number'," NUMBER_64 "},"
			"'in':{'description':'compressed size in bytes'," NUMBER_64 "},"
			"'out':{'description':'decompressed size in bytes'," NUMBER_64 "}}}},"
		"'dependentRequired':{'first_time':['last_time','duration'],"
			"'last_time':['first_time']}");
}

static void describe_sample_id(struct pd_arena *arena, struct pd_buf *b)
{
	pd_describe_object(pd_sample_id_fields, arena, b);
}

const struct pd_part pd_parts[] = {
	{ "document", "pdecode --format json", "A perf.data file as one JSON document.",
		describe_document },
	{ "line", "pdecode --format jsonl", "A line: a part of the document, with its `kind`.",
		describe_line },
	{ "file", "file", "General properties of a perf.data file.", describe_file },
	{ "attr", "attr", "An event: struct perf_event_attr, its ids and its name.",
		describe_attr },
	{ "feature", "feature", "A line with a feature section of the file's header.",
		describe_feature },
	{ "features", "features", "Feature sections by name.", describe_features },
	{ "record", "record", "A record of any type.", describe_record },
	{ "sample_id", "sample_id", "The trailer of records other than samples (sample_id_all).",
		describe_sample_id },
	{ "frame", "frame", "An address of a sample, and what was mapped there.",
		pd_describe_frame },
	{ "table_frame", "frame", "A frame that frame_ids refer to.", pd_describe_table_frame },
	{ "image", "image", "A file or other memory that was mapped.", pd_describe_image },
	{ "error", "error", "Damage at an offset of the file.", describe_error },
	{ "summary", "summary", "Totals of the file.", describe_summary },
	{ "stats", "pdecode --format stats", "Statistics of a perf.data file.", describe_stats },
	{ .name = NULL },
};
