/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of instructions and their memory operands: see decode.h.
 *
 * It knows what compilers make for user programs, and says so of the rest: what it calls opaque has
 * a known length and unknown effects. Of VEX forms that do not exist it does not always know it; a
 * CPU that is asked to run one traps before it does anything.
 */
#include "supervise/arch/x86_64/decode.h"

#include <string.h>

#include "base/attr.h"
#include "base/bytes.h"

enum { FORM_any, FORM_mem, FORM_reg };

struct row {
	uint8_t map, first, last, form, regs; /* regs: a mask of ModRM.reg; 0: whatever it is */
	unsigned flags;
};

/* The words of opcodes.def. */
#define M INSN_MODRM
#define LD INSN_LOAD
#define ST INSN_STORE
#define RW (INSN_LOAD | INSN_STORE)
#define I8 INSN_IMM8
#define I16 INSN_IMM16
#define IZ INSN_IMMZ
#define IV INSN_IMMV
#define R32 INSN_REL32
#define OFFSET INSN_OFFSET
#define PUSH INSN_PUSH
#define POP INSN_POP
#define LEAVE INSN_LEAVE
#define TODI INSN_TO_DI
#define FROMSI INSN_FROM_SI
#define FROMDI INSN_FROM_DI
#define OPAQUE INSN_OPAQUE
#define INVALID INSN_INVALID
#define B1 INSN_SIZE1
#define B2 INSN_SIZE2
#define B4 INSN_SIZE4
#define B8 INSN_SIZE8
#define B10 INSN_SIZE10
#define B16 INSN_SIZE16
#define VEC INSN_VECTOR
#define WIDE (INSN_VECTOR | INSN_SIZE16)

static const struct row rows[] = {
#define OP(map, first, last, flags) {map, first, last, FORM_any, 0, flags},
#define GROUP(map, first, last, form, regs, flags) {map, first, last, FORM_##form, regs, flags},
#include "supervise/arch/x86_64/opcodes.def"
#undef OP
#undef GROUP
};

/* The last row of an opcode that its ModRM does not narrow, and whether there are others. */
static struct {
	unsigned flags;
	bool grouped;
} plain[MAP_COUNT][256];

static void fill(void)
{
	static bool filled;

	if (filled)
		return;
	filled = true;
	for (int map = 0; map < MAP_COUNT; map++)
		for (int op = 0; op < 256; op++)
			plain[map][op].flags = INSN_INVALID;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (int op = rows[i].first; op <= rows[i].last; op++)
			if (rows[i].regs)
				plain[rows[i].map][op].grouped = true;
			else
				plain[rows[i].map][op].flags = rows[i].flags;
}

static unsigned lookup(const struct insn *insn, int modrm)
{
	unsigned flags = plain[insn->map][insn->opcode].flags;

	if (!plain[insn->map][insn->opcode].grouped || modrm < 0)
		return flags;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		bool is_register = modrm >> 6 == 3;

		if (row->regs >> (modrm >> 3 & 7) & 1 && row->map == insn->map &&
			row->first <= insn->opcode && insn->opcode <= row->last &&
			(row->form == FORM_any || is_register == (row->form == FORM_reg)))
			flags = row->flags;
	}
	return flags;
}

/* The bytes that are left to read. */
struct cursor {
	const unsigned char *at, *end;
};

static bool take(struct cursor *c, uint8_t *ret)
{
	if (c->at == c->end)
		return false;
	*ret = *c->at++;
	return true;
}

static bool peek(const struct cursor *c, uint8_t *ret)
{
	if (c->at == c->end)
		return false;
	*ret = *c->at;
	return true;
}

static bool skip(struct cursor *c, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	c->at += n;
	return true;
}

/* Legacy prefixes, then REX, which counts only right before the opcode. */
static bool take_prefixes(struct cursor *c, struct insn *insn)
{
	uint8_t byte;

	for (; peek(c, &byte); c->at++) {
		switch (byte) {
		case 0x66:
			insn->operand16 = true;
			break;
		case 0x67:
			insn->address32 = true;
			break;
		case 0xf2:
			insn->repne = true;
			insn->rep = false;
			break;
		case 0xf3:
			insn->rep = true;
			insn->repne = false;
			break;
		case 0x64:
		case 0x65:
			insn->segment = byte;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			break;
		default:
			if ((byte & 0xf0) != 0x40) {
				return true;
			}
			insn->rex = byte;
			c->at++;
			/* One before another prefix is ignored. */
			if (!peek(c, &byte))
				return false;
			if ((byte & 0xf0) != 0x40 && byte != 0x66 && byte != 0x67 && byte != 0xf2 &&
				byte != 0xf3 && byte != 0x64 && byte != 0x65 && byte != 0xf0 &&
				byte != 0x26 && byte != 0x2e && byte != 0x36 && byte != 0x3e)
				return true;
			insn->rex = 0;
			c->at--;
			break;
		}
	}
	return false;
}

/* The prefix in bits 0 and 1 of a VEX or EVEX prefix's last byte. */
static void take_simd_prefix(struct insn *insn, uint8_t byte)
{
	insn->operand16 = (byte & 3) == 1;
	insn->rep = (byte & 3) == 2;
	insn->repne = (byte & 3) == 3;
}

static bool take_vex(struct cursor *c, struct insn *insn, uint8_t first)
{
	uint8_t one, two = 0;

	if (!take(c, &one) || insn->rex)
		return false;
	if (first == 0xc5) {
		insn->rex = one & 0x80 ? 0x40 : 0x44;
		insn->map = MAP_VEX_0F;
		two = one;
	} else {
		if (!take(c, &two) || (one & 0x1f) < 1 || (one & 0x1f) > 3)
			return false;
		insn->rex = (uint8_t)(0x40 | (~one >> 5 & 7) | (two & 0x80 ? 8 : 0));
		insn->map = (enum insn_map)(MAP_VEX_0F + (one & 0x1f) - 1);
	}
	insn->wide_vector = two & 4;
	take_simd_prefix(insn, two);
	return take(c, &insn->opcode);
}

static bool take_evex(struct cursor *c, struct insn *insn, unsigned *ret_map)
{
	uint8_t p[3] = {0};

	for (int i = 0; i < 3; i++)
		if (!take(c, &p[i]))
			return false;
	*ret_map = p[0] & 7;
	insn->rex = (uint8_t)(0x40 | (~p[0] >> 5 & 7) | (p[1] & 0x80 ? 8 : 0));
	insn->map = MAP_EVEX;
	take_simd_prefix(insn, p[1]);
	return (p[1] & 4) && *ret_map != 0 && *ret_map != 4 && take(c, &insn->opcode);
}

/* AMD's XOP: 8F, where the next byte cannot be the ModRM of pop. */
static bool take_xop(struct cursor *c, struct insn *insn, unsigned *ret_map)
{
	uint8_t p[2];

	if (!take(c, &p[0]) || !take(c, &p[1]))
		return false;
	*ret_map = p[0] & 0x1f;
	insn->rex = (uint8_t)(0x40 | (~p[0] >> 5 & 7) | (p[1] & 0x80 ? 8 : 0));
	insn->map = MAP_EVEX;
	return *ret_map <= 10 && take(c, &insn->opcode);
}

static bool take_opcode(struct cursor *c, struct insn *insn, unsigned *ret_wide_map)
{
	uint8_t byte, next;

	if (!take(c, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5)
		return take_vex(c, insn, byte);
	if (byte == 0x62)
		return take_evex(c, insn, ret_wide_map);
	if (byte == 0x8f && peek(c, &next) && (next & 0x1f) >= 8)
		return take_xop(c, insn, ret_wide_map);
	insn->opcode = byte;
	if (byte != 0x0f)
		return true;
	insn->map = MAP_0F;
	if (!take(c, &insn->opcode))
		return false;
	if (insn->opcode != 0x38 && insn->opcode != 0x3a)
		return true;
	insn->map = insn->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
	return take(c, &insn->opcode);
}

static bool take_modrm(struct cursor *c, struct insn *insn)
{
	uint8_t mode, base;
	uint8_t small;

	if (!take(c, &insn->modrm))
		return false;
	mode = insn->modrm >> 6;
	base = insn->modrm & 7;
	if (mode == 3)
		return true;
	if (base == 4) {
		if (!take(c, &insn->sib))
			return false;
		base = insn->sib & 7;
	}
	if (mode == 1) {
		if (!take(c, &small))
			return false;
		insn->displacement = small < 0x80 ? small : small - 0x100;
	} else if (mode == 2 || base == 5) {
		if (!skip(c, 4))
			return false;
		insn->displacement = (int32_t)bytes_load_u32(c->at - 4);
	}
	return true;
}

static size_t immediate_size(const struct insn *insn, unsigned wide_map)
{
	size_t n = 0;

	if (insn->flags & INSN_IMM8)
		n += 1;
	if (insn->flags & INSN_IMM16)
		n += 2;
	if (insn->flags & INSN_IMMZ)
		n += insn->operand16 && !(insn->rex & 8) ? 2 : 4;
	if (insn->flags & INSN_REL32)
		n += 4;
	if (insn->flags & INSN_IMMV)
		n += insn->rex & 8 ? 8 : insn->operand16 ? 2 : 4;
	if (insn->flags & INSN_OFFSET)
		n += insn->address32 ? 4 : 8;
	if (insn->map == MAP_EVEX && wide_map == 10) /* XOP's maps are 8, 9 and 10 */
		n += 4;
	else if (insn->map == MAP_EVEX)
		n += wide_map == 3 || wide_map == 8 ||
		     (wide_map == 1 && ((insn->opcode & 0xfc) == 0x70 || insn->opcode == 0xc2 ||
					       (insn->opcode >= 0xc4 && insn->opcode <= 0xc6)));
	return n;
}

/* Opcodes that a mandatory prefix makes another instruction. */
static void apply_prefix(struct insn *insn)
{
	/* movq xmm, m64 shares its opcode with the store of movd; 77 has no ModRM in MMX and VEX */
	if ((insn->map == MAP_0F || insn->map == MAP_VEX_0F) && insn->opcode == 0x7e && insn->rep)
		insn->flags = INSN_MODRM | INSN_LOAD | INSN_SIZE8;
	/* crc32; adcx and adox */
	if (insn->map == MAP_0F38 && insn->opcode >= 0xf0 && insn->opcode <= 0xf1 && insn->repne)
		insn->flags = INSN_MODRM | INSN_LOAD | (insn->opcode == 0xf0 ? INSN_SIZE1 : 0);
	if (insn->map == MAP_0F38 && insn->opcode == 0xf6 && (insn->rep || insn->operand16))
		insn->flags = INSN_MODRM | INSN_LOAD;
	/* extrq, insertq of SSE4a: not made by anybody */
	if (insn->map == MAP_0F && insn->opcode == 0x78)
		insn->flags = insn->repne || insn->operand16 ? INSN_INVALID : insn->flags;
	/* movmskps and the like have no memory form; 2A without a prefix reads 8 bytes */
	if (insn->map == MAP_0F && insn->opcode == 0xae &&
		(insn->rep || insn->operand16 || insn->repne))
		insn->flags |= INSN_OPAQUE;
}

bool insn_decode(const unsigned char *code, size_t len, struct insn *ret)
{
	struct insn insn = {0};
	struct cursor c = {code, code + (len < INSN_LENGTH_MAX ? len : INSN_LENGTH_MAX)};
	unsigned wide_map = 0;
	uint8_t modrm;

	fill();
	if (!take_prefixes(&c, &insn) || !take_opcode(&c, &insn, &wide_map))
		return false;
	insn.flags = lookup(&insn, peek(&c, &modrm) ? modrm : -1);
	if (insn.flags & INSN_INVALID)
		return false;
	if (insn.flags & INSN_MODRM && !take_modrm(&c, &insn))
		return false;
	apply_prefix(&insn);
	if (insn.flags & INSN_INVALID || !skip(&c, immediate_size(&insn, wide_map)))
		return false;
	insn.length = (unsigned)(c.at - code);
	*ret = insn;
	return true;
}

static uint64_t general(const struct regs *regs, unsigned number)
{
	const struct user_regs_struct *u = &regs->user;
	const uint64_t all[16] = {u->rax, u->rcx, u->rdx, u->rbx, u->rsp, u->rbp, u->rsi, u->rdi,
		u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15};

	return all[number];
}

static uint64_t truncate(const struct insn *insn, uint64_t address)
{
	return insn->address32 ? (uint32_t)address : address;
}

static uint64_t segment_base(const struct insn *insn, const struct regs *regs)
{
	if (insn->segment == 0x64)
		return regs->user.fs_base;
	return insn->segment == 0x65 ? regs->user.gs_base : 0;
}

static uint64_t operand_address(const struct insn *insn, const struct regs *regs)
{
	unsigned mode = insn->modrm >> 6, base = insn->modrm & 7;
	uint64_t address = (uint64_t)(int64_t)insn->displacement;

	if (base == 4) {
		unsigned index = (insn->sib >> 3 & 7) | (insn->rex & 2 ? 8 : 0);

		base = insn->sib & 7;
		if (index != 4)
			address += general(regs, index) << (insn->sib >> 6);
		if (mode != 0 || base != 5)
			address += general(regs, base | (insn->rex & 1 ? 8 : 0));
	} else if (mode == 0 && base == 5)
		address += regs->user.rip + insn->length;
	else
		address += general(regs, base | (insn->rex & 1 ? 8 : 0));
	return truncate(insn, address) + segment_base(insn, regs);
}

static uint32_t operand_size(const struct insn *insn)
{
	if (insn->flags & INSN_SIZE1)
		return 1;
	if (insn->flags & INSN_SIZE2)
		return 2;
	if (insn->flags & INSN_SIZE4)
		return 4;
	if (insn->flags & INSN_SIZE8)
		return 8;
	if (insn->flags & INSN_SIZE10)
		return 10;
	if (insn->flags & INSN_VECTOR && insn->wide_vector)
		return 32;
	if (insn->flags & INSN_SIZE16)
		return 16;
	if (insn->flags & INSN_VECTOR) {
		/* movdqu, movsldup and movshdup, movddup and lddqu read more than a number */
		bool whole = insn->opcode == 0x6f || insn->opcode == 0x12 || insn->opcode == 0x16 ||
			     insn->opcode == 0xf0 || insn->opcode == 0x70 || insn->opcode >= 0xd0;

		if (!whole && insn->rep)
			return 4;
		return !whole && insn->repne ? 8 : 16;
	}
	return insn->rex & 8 ? 8 : insn->operand16 ? 2 : 4;
}

static void add(struct arch_access ret[ARCH_ACCESSES], int *count, uint64_t address, uint32_t len,
	bool store)
{
	ret[(*count)++] = (struct arch_access){address, len, store};
}

int insn_accesses(
	const struct insn *insn, const struct regs *regs, struct arch_access ret[ARCH_ACCESSES])
{
	const struct user_regs_struct *u = &regs->user;
	bool is_memory = insn->flags & INSN_MODRM && insn->modrm >> 6 != 3;
	uint32_t size = operand_size(insn);
	int count = 0;

	if (insn->flags & INSN_OPAQUE)
		return -1;
	if (is_memory && insn->flags & (INSN_LOAD | INSN_STORE))
		add(ret, &count, operand_address(insn, regs), size, insn->flags & INSN_STORE);
	if (insn->flags & INSN_PUSH)
		add(ret, &count, u->rsp - 8, 8, true);
	if (insn->flags & INSN_POP)
		add(ret, &count, u->rsp, 8, false);
	if (insn->flags & INSN_LEAVE)
		add(ret, &count, u->rbp, 8, false);
	if (insn->flags & INSN_TO_DI)
		add(ret, &count, truncate(insn, u->rdi), size, true);
	if (insn->flags & INSN_FROM_DI)
		add(ret, &count, truncate(insn, u->rdi), size, false);
	if (insn->flags & INSN_FROM_SI)
		add(ret, &count, truncate(insn, u->rsi) + segment_base(insn, regs), size, false);
	return count;
}
