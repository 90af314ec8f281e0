/* x86_operands.c - opcodes and what follows them: see x86_operands.h and Intel's manual, volume 2,
 * appendix A. */
#include "unwind/x86_operands.h"

#include <string.h>

#include "unwind/x86.h"

/* Bytes that follow an opcode: a letter for each, by its number. */
enum {
	ALONE = '.',
	BYTE = 'b',		/* an immediate byte */
	WORD = 'w',		/* ... of 2 bytes */
	LONG = 'z',		/* ... of 4, or 2 with prefix 0x66 */
	FULL = 'v',		/* ... of 4, 2, or 8 with REX.W */
	FAR = 'a',		/* an address */
	MODRM = 'm',
	MODRM_BYTE = 'B',
	MODRM_LONG = 'Z',
	MODRM_TEST = 't',	/* an immediate in the first two of eight */
	RELATIVE = 'r',		/* a distance of 4 bytes, whatever the prefix */
	BAD = '-',
};

static const char one_byte[256 + 1] =
	"mmmmbz..mmmmbz.-" "mmmmbz..mmmmbz.." "mmmmbz-.mmmmbz-." "mmmmbz-.mmmmbz-."
	"................" "................" "..-m----zZbB...." "bbbbbbbbbbbbbbbb"
	"BZBBmmmmmmmmmmmm" "..........-....." "aaaa....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.--BZ-.w..b.." "mmmmbb-.mmmmmmmm" "bbbbbbbbrr-b...." "-.--..tt......mm";

/* After 0x0f. */
static const char two_byte[256 + 1] =
	"mmmm-.....-.-m.B" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "......-.--------"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm"
	"rrrrrrrrrrrrrrrr" "mmmmmmmmmmmmmmmm" "...mBmmm...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";

static bool take(struct ps_x86_operands *d, unsigned int width, int64_t *out)
{
	uint64_t v;

	if (!pd_take_number(&d->at, width, &v))
		return false;
	*out = width == 1 ? (int8_t)v : width == 2 ? (int16_t)v : width == 4 ? (int32_t)v :
	       (int64_t)v;
	return true;
}

static bool take_byte(struct ps_x86_operands *d, uint8_t *out)
{
	const uint8_t *p = pd_take(&d->at, 1);

	if (p)
		*out = *p;
	return p;
}

static bool peek(const struct ps_x86_operands *d, uint8_t *out)
{
	if (!pd_left(&d->at))
		return false;
	*out = *d->at.at;
	return true;
}

/* --- prefixes and opcode --- */

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0xf0, 0xf2, 0xf3,
	};

	return memchr(prefixes, byte, sizeof(prefixes));
}

/* Linkers fill up calls with prefix 0x67; with 32 bits it would change what follows. */
static void take_prefixes(struct ps_x86_operands *d)
{
	uint8_t byte = 0;

	while (peek(d, &byte) && (is_prefix(byte) || (d->wide && byte == 0x67))) {
		d->is_short |= byte == 0x66;
		take_byte(d, &byte);
	}
	if (d->wide && (byte & 0xf0) == 0x40)
		take_byte(d, &d->rex);
}

/* VEX and EVEX: the opcode's map is in the second byte. */
static bool take_vector(struct ps_x86_operands *d, unsigned int more)
{
	uint8_t bytes[3];

	for (unsigned int i = 0; i < more; i++)
		if (!take_byte(d, &bytes[i]))
			return false;
	d->is_vector = true;
	d->map = more == 1 ? PS_MAP_0F : bytes[0] & 7;
	if (d->map == 5 || d->map == 6)		/* of half precision, in EVEX */
		d->map = PS_MAP_0F38;
	return d->map != PS_MAP_ONE && d->map < PS_MAPS && take_byte(d, &d->opcode);
}

/* Without 64 bits, bytes are a vector's prefix only where another instruction would have no
 * operand in memory. */
static bool is_vector(const struct ps_x86_operands *d)
{
	uint8_t next;

	return (d->opcode == 0xc4 || d->opcode == 0xc5 || d->opcode == 0x62) &&
	       (d->wide || (peek(d, &next) && next >= 0xc0));
}

static bool take_opcode(struct ps_x86_operands *d)
{
	if (!take_byte(d, &d->opcode))
		return false;
	if (is_vector(d))
		return take_vector(d, d->opcode == 0xc5 ? 1 : d->opcode == 0xc4 ? 2 : 3);
	if (d->opcode != 0x0f)
		return true;
	d->map = PS_MAP_0F;
	if (!take_byte(d, &d->opcode))
		return false;
	if (d->opcode != 0x38 && d->opcode != 0x3a)
		return true;
	d->map = d->opcode == 0x38 ? PS_MAP_0F38 : PS_MAP_0F3A;
	return take_byte(d, &d->opcode);
}

static char form_of(const struct ps_x86_operands *d)
{
	switch (d->map) {
	case PS_MAP_ONE:
		return one_byte[d->opcode];
	case PS_MAP_0F:
		return two_byte[d->opcode];
	default:
		return d->map == PS_MAP_0F3A ? MODRM_BYTE : MODRM;
	}
}

/* --- operands --- */

static bool take_sib(struct ps_x86_operands *d)
{
	uint8_t sib;

	if (!take_byte(d, &sib))
		return false;
	if ((sib >> 3 & 7) == 4 && !(d->rex & PS_REX_X))	/* no index */
		d->base = (uint8_t)((sib & 7) | (d->rex & PS_REX_B ? 8 : 0));
	if ((sib & 7) != 5 || d->mod)
		return true;
	d->base = PS_X86_NO_REGISTER;
	return take(d, 4, &d->displacement);
}

static bool take_modrm(struct ps_x86_operands *d)
{
	uint8_t byte;

	if (!take_byte(d, &byte))
		return false;
	d->mod = byte >> 6;
	d->reg = (uint8_t)((byte >> 3 & 7) | (d->rex & PS_REX_R ? 8 : 0));
	d->rm = (uint8_t)((byte & 7) | (d->rex & PS_REX_B ? 8 : 0));
	if (d->mod == 3)
		return true;
	if ((byte & 7) == 4) {
		if (!take_sib(d))
			return false;
	} else if ((byte & 7) == 5 && !d->mod) {
		return take(d, 4, &d->displacement);
	} else {
		d->base = d->rm;
	}
	return !d->mod || take(d, d->mod == 1 ? 1 : 4, &d->displacement);
}

static bool has_immediate(const struct ps_x86_operands *d, char form)
{
	return form != MODRM_TEST || (d->reg & 7) < 2;
}

static bool take_immediate(struct ps_x86_operands *d, char form)
{
	const unsigned int word = d->is_short ? 2 : 4;
	unsigned int width = 0;

	switch (form) {
	case BYTE:
	case MODRM_BYTE:
		width = 1;
		break;
	case WORD:
		width = 2;
		break;
	case LONG:
	case MODRM_LONG:
		width = word;
		break;
	case RELATIVE:
		width = 4;
		break;
	case FULL:
		width = d->rex & PS_REX_W ? 8 : word;
		break;
	case FAR:
		width = d->wide ? 8 : 4;
		break;
	case MODRM_TEST:
		width = d->opcode == 0xf6 ? 1 : word;
		break;
	default:
		return true;
	}
	return !has_immediate(d, form) || take(d, width, &d->immediate);
}

/* With 64 bits, some opcodes are no instructions. */
static bool is_of_32_bits(const struct ps_x86_operands *d)
{
	static const uint8_t opcodes[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f,
		0x60, 0x61, 0x82, 0xce, 0xd4, 0xd5,
	};

	return d->map == PS_MAP_ONE && memchr(opcodes, d->opcode, sizeof(opcodes));
}

static bool take_operands(struct ps_x86_operands *d)
{
	const char form = form_of(d);
	const bool is_xop = d->map == PS_MAP_ONE && d->opcode == 0x8f;
	const bool has_modrm = form == MODRM || form == MODRM_BYTE || form == MODRM_LONG ||
			       form == MODRM_TEST;

	if (form == BAD || (d->wide && is_of_32_bits(d)))
		return false;
	return (!has_modrm || take_modrm(d)) && !(is_xop && d->reg & 7) &&
	       take_immediate(d, form);
}

bool ps_x86_take(struct ps_x86_operands *d)
{
	d->base = PS_X86_NO_REGISTER;
	take_prefixes(d);
	return take_opcode(d) && take_operands(d);
}
