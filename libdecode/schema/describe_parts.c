/* describe_parts.c - the schemas of everything around the fields: document, lines, the keys that
 * every record has.
 */
#include "schema/describe.h"

#include <string.h>

#include "layout/container.h"
#include "layout/names_tables.h"
#include "pd/error.h"
#include "pd/history.h"

#define USER_TYPES 64		/* from here on records are perf's own and belong to no event */
#define NUMBER_64 "'type':'integer'," PD_RANGE_U64
#define HEX "'type':'string','pattern':'" PD_PATTERN_HEX "'"
#define SOME_HEX "'type':'string','pattern':'^([0-9a-f]{2})+$'"
#define KIND(name) "'kind':{'description':'in JSON Lines only','const':'" name "'}"
#define CLOSED "'type':'object','additionalProperties':false,"

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
		"ns'," NUMBER_64 "},"
		"'last_time':{'description':'last time in ns'," NUMBER_64 "},"
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

/* Writes the members of a schema of the names that `name_of` has, which ends with "UNKNOWN". */
static void describe_words(const char *(*name_of)(unsigned int), struct pd_buf *b)
{
	pd_text_key(b, "enum");
	pd_text_open(b, '[');
	for (unsigned int i = 0; strcmp(name_of(i), "UNKNOWN") != 0; i++)
		if (*name_of(i))
			pd_text_string(b, name_of(i));
	pd_text_close(b, ']');
}

#define TEXT_HEX "'description':'the exact bytes, where they are not UTF-8'," SOME_HEX
#define ADDRESS "'type':'string','pattern':'" PD_PATTERN_ADDRESS "'"

#define FRAME_ID "^([0-9]+|[A-Z_]+):[0-9a-f]+(@[0-9]+(t[0-9]+)?)?r?g?m?s?d?$"

#define SOURCE_LINE \
	"'file':{'description':'source file','type':'string'},'file_hex':{" TEXT_HEX "}," \
	"'line':{'description':'its line; of a function into which others are inlined, the " \
	"line of the call','type':'integer'," PD_RANGE_U32 "}"
#define SYMBOL \
		"'symbol':{'description':'readable name of the function','type':'string'}," \
		"'symbol_hex':{" TEXT_HEX "}," \
		"'linkage_name':{'description':'its name as the file has it','type':'string'}," \
		"'linkage_name_hex':{" TEXT_HEX "}"

/* Keys that a namer adds. */
static void describe_names(struct pd_buf *b)
{
	pd_text_json(b, SYMBOL "," SOURCE_LINE ","
		"'offset':{'description':'of addr, from the start of the function'," NUMBER_64 "},"
		"'function':{'description':'start of a function without a name, as an address in "
			"the image'," ADDRESS "},"
		"'inlined':{'description':'functions that are inlined there, innermost first',"
			"'type':'array','minItems':1,'items':{" CLOSED "'properties':{"
			SYMBOL "," SOURCE_LINE "}}},"
		"'unverified':{'description':'names are of a file that nothing shows to be the "
			"recorded one, by --unverified=always','const':true}");
}

#define SAME_AS_MAP \
	"'dependentRequired':{'image':['file_offset'],'file_offset':['image'],'dso':['image']," \
	"'build_id':['image']}"

/* Describes what was mapped at an address, and its names. */
static void describe_location(struct pd_buf *b)
{
	pd_text_json(b,
		"'addr':{'description':'as recorded'," ADDRESS "},"
		"'file_offset':{'description':'offset of addr in the file that is mapped there',"
			ADDRESS "},"
		"'image':{'description':'index among the images','type':'integer'," PD_RANGE_U32
			"},"
		"'dso':{'description':'path of the image, if it has at most 512 bytes',"
			"'type':'string'},"
		"'dso_hex':{" TEXT_HEX "},"
		"'build_id':{'description':'build id of the image'," SOME_HEX "}");
	describe_names(b);
	pd_text_json(b, "'return_address':{'description':'the call is before it','const':true},"
		"'guessed':{'description':'found by a frame pointer where there is no call frame "
			"information, or after such a frame','const':true},"
		"'remapped':{'description':'anonymous memory that replaced this map of a file: a "
			"copy of its code','const':true},"
		"'stitched':{'description':'a call that an earlier sample of the thread has, by "
			"--stitch-lbr','const':true},"
		"'why':{'description':'why nothing is known, or no name'");
	describe_words(pd_why_name, b);
	pd_text_json(b, "}");
}

static void describe_frame(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED "'required':['addr'],'properties':{");
	describe_location(b);
	pd_text_json(b, "'cpumode':{'description':'CPU mode, where it is not that of the record'");
	pd_describe_enum(pd_names_cpumode, 3, b);
	pd_text_json(b, "}}," SAME_AS_MAP);
}

static void describe_table_frame(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED "'required':['id'],'properties':{" KIND("frame") ","
		"'id':{'description':'IMAGE:FILE_OFFSET or WHY:ADDR, then @PID; r "
			"return_address, g guessed, m remapped, s stitched','type':'string',"
			"'pattern':'" FRAME_ID "'},"
		"'pid':{'description':'process whose own code it is','type':'integer'," PD_RANGE_U32
			"}");
	describe_location(b);
	pd_text_json(b, "}," SAME_AS_MAP);
}

static void describe_image(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED "'required':['index','image_kind','path'],'properties':{"
		KIND("image") ","
		"'index':{'description':'same as image of frames','type':'integer'," PD_RANGE_U32
			"},"
		"'image_kind':{'description':'what it is, by its name'");
	describe_words(pd_image_kind_name, b);
	pd_text_json(b, "},'path':{'description':'as recorded; of code that the kernel made, its "
			"name','type':'string'},"
		"'path_hex':{" TEXT_HEX "},"
		"'build_id':{" SOME_HEX "},"
		"'build_id_source':{'description':'record or feature that states the build id',"
			"'enum':['MMAP2','HEADER']},"
		"'maj':{" NUMBER_64 "},'min':{" NUMBER_64 "},'ino':{" NUMBER_64 "},"
		"'ino_generation':{" NUMBER_64 "},"
		"'guest':{'description':'of a virtual machine','const':true},"
		"'machine_pid':{'description':'process of the virtual machine','type':'integer',"
		"'minimum':1},"
		"'symbol':{'description':'symbol of the kernel whose address its map states',"
			"'type':'string'},"
		"'symbol_hex':{" TEXT_HEX "},"
		"'bpf_id':{'description':'id of the BPF program','type':'integer'," PD_RANGE_U32
			"},"
		"'match':{'description':'how the file is known to be the recorded one',"
			"'enum':['BUILD_ID','DEBUGLINK','INODE','NAME_ONLY','UNVERIFIED']},"
		"'file':{'description':'file that names come from','type':'string'},"
		"'file_hex':{" TEXT_HEX "},"
		"'debug_file':{'description':'its separate debug file','type':'string'},"
		"'debug_file_hex':{" TEXT_HEX "},"
		"'sources':{'description':'tables that names come from','type':'array',"
			"'items':{'type':'string'},'minItems':1},"
		"'other_build_id':{'description':'of a file that is not the recorded one'," SOME_HEX
			"},'why':{'description':'why no file was used'");
	describe_words(pd_why_name, b);
	pd_text_json(b, "},"
		"'samples':{'description':'samples whose ip is in it'," NUMBER_64 "},"
		"'frames':{'description':'frames of samples in it'," NUMBER_64 "},"
		"'named':{'description':'those that have a name (only with --symbols)'," NUMBER_64
			"}},"
		"'dependentRequired':{'build_id':['build_id_source'],"
			"'build_id_source':['build_id']}");
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
	{ "frame", "frame", "An address of a sample, and what was mapped there.", describe_frame },
	{ "table_frame", "frame", "A frame that frame_ids refer to.", describe_table_frame },
	{ "image", "image", "A file or other memory that was mapped.", describe_image },
	{ "error", "error", "Damage at an offset of the file.", describe_error },
	{ "summary", "summary", "Totals of the file.", describe_summary },
	{ "stats", "pdecode --format stats", "Statistics of a perf.data file.", describe_stats },
	{ .name = NULL },
};

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
	if (!d)
		pd_members_add(m, "type_id", "", "'type':'integer'," PD_RANGE_U32);
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
	if (!d || d->type < USER_TYPES) {
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
