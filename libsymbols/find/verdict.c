/* verdict.c - whether a file is the one that was recorded: see verdict.h. */
#include "find/verdict.h"

#include <string.h>

#include "base/cursor.h"
#include "image/binary.h"

#define ID_LEAST 8	/* bytes; a shorter one has to be the same in length, too */

bool ps_build_ids_agree(struct pd_bytes a, struct pd_bytes b)
{
	const struct pd_bytes shorter = a.size < b.size ? a : b, longer = a.size < b.size ? b : a;
	const struct pd_bytes rest = { longer.data + shorter.size, longer.size - shorter.size };

	if (!shorter.size || (shorter.size < ID_LEAST && rest.size))
		return false;
	return !memcmp(a.data, b.data, shorter.size) && pd_all_zero(rest);
}

static bool is_older(const struct ps_identity *found, const struct ps_identity *recorded)
{
	return found->changed && recorded->changed && found->changed < recorded->changed;
}

static bool has_same_inode(const struct ps_identity *recorded, const struct ps_identity *found)
{
	return recorded->ino && recorded->ino == found->ino && recorded->maj == found->maj &&
	       recorded->min == found->min &&
	       (!recorded->generation || !found->generation ||
		recorded->generation == found->generation);
}

enum ps_match ps_judge_image(const struct ps_identity *recorded, const struct ps_identity *found)
{
	if (recorded->build_id.size)
		return ps_build_ids_agree(recorded->build_id, found->build_id) ? PS_MATCH_BUILD_ID :
										 PS_MISMATCH;
	if (!is_older(found, recorded))
		return PS_MISMATCH;
	return has_same_inode(recorded, found) ? PS_MATCH_INODE : PS_MATCH_NAME_ONLY;
}

enum ps_match ps_judge_debug(const struct ps_identity *image, const struct ps_identity *found,
			     const struct ps_wanted *what, struct pd_bytes file)
{
	if (image->build_id.size && found->build_id.size)
		return ps_build_ids_agree(image->build_id, found->build_id) ? PS_MATCH_BUILD_ID :
									      PS_MISMATCH;
	if (what->debuglink && ps_debuglink_crc(file) == what->crc)
		return PS_MATCH_DEBUGLINK;
	return PS_MISMATCH;
}

const char *ps_match_name(enum ps_match match)
{
	static const char *const names[] = {
		[PS_MISMATCH] = "MISMATCH", [PS_MATCH_BUILD_ID] = "BUILD_ID",
		[PS_MATCH_DEBUGLINK] = "DEBUGLINK", [PS_MATCH_INODE] = "INODE",
		[PS_MATCH_NAME_ONLY] = "NAME_ONLY", [PS_MATCH_UNVERIFIED] = "UNVERIFIED",
	};

	return (unsigned int)match < sizeof(names) / sizeof(names[0]) ? names[match] : "MISMATCH";
}
