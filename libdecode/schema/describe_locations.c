/* describe_locations.c - the schemas of frames and images: where an address is, and its names. */
#include <string.h>

#include "layout/names_tables.h"
#include "pd/history.h"
#include "schema/describe_values.h"

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

#define ADDRESS "'type':'string','pattern':'" PD_PATTERN_ADDRESS "'"


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
		"'guessed':{'description':'found without call frame information, by instructions "
			"or a frame pointer, or after such a frame','const':true},"
		"'remapped':{'description':'anonymous memory that replaced this map of a file: a "
			"copy of its code','const':true},"
		"'stitched':{'description':'a call that an earlier sample of the thread has, by "
			"--stitch-lbr','const':true},"
		"'why':{'description':'why nothing is known, or no name'");
	describe_words(pd_why_name, b);
	pd_text_json(b, "}");
}

void pd_describe_frame(struct pd_arena *arena, struct pd_buf *b)
{
	(void)arena;
	pd_text_json(b, CLOSED "'required':['addr'],'properties':{");
	describe_location(b);
	pd_text_json(b, "'cpumode':{'description':'CPU mode, where it is not that of the record'");
	pd_describe_enum(pd_names_cpumode, 3, b);
	pd_text_json(b, "}}," SAME_AS_MAP);
}

void pd_describe_table_frame(struct pd_arena *arena, struct pd_buf *b)
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

void pd_describe_image(struct pd_arena *arena, struct pd_buf *b)
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
