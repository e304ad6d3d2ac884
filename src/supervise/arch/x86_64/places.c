/* SPDX-License-Identifier: Apache-2.0 */
/* rdtsc and cpuid in place: which can be, and what is put there. See arch.h. */
#include "supervise/arch.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "supervise/arch/x86_64/cpuid.h"
#include "supervise/arch/x86_64/decode.h"

extern const unsigned char places_cpuid[];
extern const uint64_t places_cpuid_size;

enum { RDTSC = 0x31, CPUID = 0xa2, JUMP = 5, ENTRY = 24, BRANCHES_MAX = 4096, INSNS_MAX = 16384 };

size_t arch_places_find(const unsigned char *code, size_t len, size_t from)
{
	for (size_t at = from; at + 1 < len; at++) {
		const unsigned char *next = memchr(code + at, 0x0f, len - 1 - at);

		if (!next)
			break;
		at = (size_t)(next - code);
		if (code[at + 1] == RDTSC || code[at + 1] == CPUID)
			return at;
	}
	return len;
}

/* Does the same wherever it stands, once an address relative to it is mended. */
static bool is_movable(const struct insn *insn)
{
	uint8_t op = insn->opcode;

	if (insn->map != MAP_ONE)
		return false;
	/* add, or, adc, sbb, and, sub, xor, cmp: all but the six that 64-bit mode lacks */
	if (op < 0x40)
		return (op & 7) < 6;
	if (op == 0x63 || (op >= 0x80 && op <= 0x8d && op != 0x82 && op != 0x8c))
		return true; /* movsxd; arithmetic with a constant, test, xchg, mov, lea */
	return (op >= 0xb0 && op <= 0xbf) || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
	       (op >= 0xd0 && op <= 0xd3) || op == 0xa8 || op == 0xa9;
}

/* Where it may go besides to the next one: true, and *ret_target. */
static bool is_branch(
	const struct insn *insn, const unsigned char *code, uint64_t next, uint64_t *ret_target)
{
	uint8_t op = insn->opcode;
	bool near =
		insn->map == MAP_ONE && ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0 || op == 0xeb);
	bool far = (insn->map == MAP_ONE && (op == 0xe8 || op == 0xe9)) ||
		   (insn->map == MAP_0F && (op & 0xf0) == 0x80);

	if (near)
		*ret_target = next + (uint64_t)(int64_t)(int8_t)code[insn->length - 1];
	else if (far)
		*ret_target =
			next + (uint64_t)(int64_t)(int32_t)bytes_load_u32(code + insn->length - 4);
	return near || far;
}

static bool is_relative(const struct insn *insn)
{
	return insn->flags & INSN_MODRM && (insn->modrm & 0xc7) == 5;
}

static bool is_movable_at(const unsigned char *code, size_t len)
{
	struct insn insn;

	return insn_decode(code, len, &insn) && is_movable(&insn);
}

/* Of the function that is judged: where its instructions begin, and where its branches go. */
static uint32_t starts[INSNS_MAX];
static uint64_t targets[BRANCHES_MAX];
static size_t insns, branches;

static bool is_entered(uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < branches; i++)
		if (targets[i] > from && targets[i] < to)
			return true;
	return false;
}

/* From instruction `first` on, `special` among them, until a jump has room. */
static bool cover(
	const struct arch_function *f, size_t first, size_t special, struct arch_place *ret)
{
	size_t begin = starts[first], end = begin, i = first;

	for (; i < insns && (i <= special || end - begin < JUMP); i++) {
		if (i != special && !is_movable_at(f->code + starts[i], f->len - starts[i]))
			return false;
		end = i + 1 < insns ? starts[i + 1] : f->len;
	}
	if (end - begin < JUMP || end - begin > ARCH_COVER_MAX ||
		is_entered(f->address + begin, f->address + end))
		return false;
	*ret = (struct arch_place){.address = f->address + begin,
		.len = (uint8_t)(end - begin),
		.before = (uint8_t)(starts[special] - begin),
		.is_counter = f->code[starts[special] + 1] == RDTSC};
	memcpy(ret->code, f->code + begin, end - begin);
	return true;
}

/* With what follows it, else with what comes before. */
static void add_place(const struct arch_function *f, size_t special, struct arch_places *p)
{
	enum { BACK = 4 };
	uint64_t taken = p->count ? p->at[p->count - 1].address + p->at[p->count - 1].len : 0;

	for (size_t back = 0; back <= BACK && back <= special; back++) {
		if (p->count == ARCH_PLACES_MAX || f->address + starts[special - back] < taken)
			return;
		if (cover(f, special - back, special, &p->at[p->count])) {
			p->count++;
			return;
		}
	}
}

static bool is_special(const struct insn *insn)
{
	return insn->map == MAP_0F && insn->length == 2 &&
	       (insn->opcode == RDTSC || insn->opcode == CPUID);
}

/* All instructions of the function, its branches, and the addresses that it computes. */
static bool decode(const struct arch_function *f, struct arch_places *p)
{
	insns = branches = p->table_count = 0;
	p->jumps_by_table = false;
	for (size_t at = 0; at < f->len;) {
		struct insn insn;
		const unsigned char *code = f->code + at;
		uint64_t next;

		if (insns == INSNS_MAX || branches == BRANCHES_MAX ||
			!insn_decode(code, f->len - at, &insn))
			return false;
		next = f->address + at + insn.length;
		if (is_branch(&insn, code, next, &targets[branches]))
			branches++;
		else if (insn.map == MAP_ONE && insn.opcode == 0xff && (insn.modrm >> 3 & 6) == 4)
			p->jumps_by_table = true;
		else if (insn.map == MAP_ONE && insn.opcode == 0x8d && is_relative(&insn) &&
			 p->table_count < ARCH_TABLES_MAX)
			p->table[p->table_count++] = next + (uint64_t)(int64_t)insn.displacement;
		starts[insns++] = (uint32_t)at;
		at += insn.length;
	}
	/* More of them than can be looked at. */
	return !p->jumps_by_table || p->table_count < ARCH_TABLES_MAX;
}

void arch_places_judge(const struct arch_function *f, struct arch_places *p)
{
	if (f->len > UINT32_MAX || !decode(f, p))
		return;
	for (size_t i = 0; i < insns; i++) {
		struct insn insn;

		if (f->code[starts[i]] == 0x0f &&
			insn_decode(f->code + starts[i], f->len - starts[i], &insn) &&
			is_special(&insn))
			add_place(f, i, p);
	}
}

bool arch_places_leads(const unsigned char *code, size_t at)
{
	uint8_t before = at > 0 ? code[at - 1] : 0, first = at > 1 ? code[at - 2] : 0;

	return before == 0xe8 || before == 0xe9 || (first == 0x0f && (before & 0xf0) == 0x80) ||
	       (first == 0xc7 && before == 0xf8) || (first == 0x8d && (before & 0xc7) == 5);
}

static bool fits(int64_t distance)
{
	return distance >= INT32_MIN && distance <= INT32_MAX;
}

/* One moved instruction: copied, and its relative address mended. 0: out of reach. */
static size_t move(
	const unsigned char *code, size_t len, uint64_t from, uint64_t to, unsigned char *out)
{
	struct insn insn;
	size_t at = 0;
	int64_t shown;

	if (!insn_decode(code, len, &insn))
		return 0;
	memcpy(out, code, insn.length);
	if (!is_relative(&insn))
		return insn.length;
	while (code[at] == 0x66 || (code[at] & 0xf0) == 0x40 ||
		(code[at] >= 0xf2 && code[at] <= 0xf3))
		at++;
	/* opcode, ModRM, displacement */
	shown = insn.displacement + (int64_t)(from - to);
	if (code[at] != insn.opcode || !fits(shown))
		return 0;
	bytes_store_u32(out + at + 2, (uint32_t)shown);
	return insn.length;
}

static bool jump(unsigned char *out, uint8_t opcode, uint64_t from, uint64_t to)
{
	int64_t distance = (int64_t)(to - from - JUMP);

	out[0] = opcode;
	bytes_store_u32(out + 1, (uint32_t)distance);
	return fits(distance);
}

/* The bytes of the place from one on, up to another. 0: out of reach. */
static size_t move_all(const struct arch_place *place, const struct arch_stub_at *where,
	size_t from, size_t to, size_t n, unsigned char *out)
{
	while (from < to) {
		size_t len = move(place->code + from, to - from, where->place + from,
			where->stub + n, out + n);

		if (len == 0)
			return 0;
		from += len;
		n += len;
	}
	return n;
}

/* What stands for the instruction itself. 0: out of reach. */
static size_t stand_in(const struct arch_place *place, const struct arch_stub_at *where, size_t n,
	unsigned char *out)
{
	/* mov ...(%rip),%rax; mov %rax,%rdx; mov %eax,%eax; bswap %rdx; bswap %edx: one read, so
	 * that both halves are of one time, and no flag changes */
	static const unsigned char counter[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x89, 0xc2,
		0x89, 0xc0, 0x48, 0x0f, 0xca, 0x0f, 0xca};
	static const unsigned char down[] = {
		0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp),%rsp */

	if (place->is_counter) {
		int64_t distance = (int64_t)(where->counter - (where->stub + n + 7));

		memcpy(out + n, counter, sizeof(counter));
		bytes_store_u32(out + n + 3, (uint32_t)distance);
		return fits(distance) ? n + sizeof(counter) : 0;
	}
	memcpy(out + n, down, sizeof(down));
	n += sizeof(down);
	return jump(out + n, 0xe8, where->stub + n, where->cpuid) ? n + JUMP : 0;
}

size_t arch_place_stub(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_STUB_MAX])
{
	size_t n = move_all(place, where, 0, place->before, 0, out);

	if (n == 0 && place->before > 0)
		return 0;
	n = stand_in(place, where, n, out);
	if (n != 0)
		n = move_all(place, where, place->before + 2, place->len, n, out);
	if (n == 0 || !jump(out + n, 0xe9, where->stub + n, where->place + place->len))
		return 0;
	return n + JUMP;
}

bool arch_place_jump(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_COVER_MAX])
{
	memset(out, 0x90, place->len);
	return jump(out, 0xe9, where->place, where->stub);
}

size_t arch_places_cpuid(unsigned char *out, size_t room)
{
	/* What C libraries ask for at their start, often asked first; of another one the
	 * instruction itself answers.
	 */
	static const uint32_t any[] = {
		0x80000006, 0x80000005, 0x80000000, 0, 1, 2, 0x80000001, 0x80000007, 0x80000008};
	static const struct {
		uint32_t leaf, subleaf;
	} exact[] = {{4, 0}, {4, 1}, {4, 2}, {4, 3}, {4, 4}, {7, 0}, {7, 1}, {0xb, 0}, {0xb, 1},
		{0xd, 0}, {0xd, 1}, {0xd, 2}, {0xd, 3}, {0xd, 5}, {0xd, 6}, {0xd, 7}, {0x14, 0},
		{0x19, 0}, {0x8000001d, 0}, {0x8000001d, 1}, {0x8000001d, 2}, {0x8000001d, 3},
		{0x8000001d, 4}};
	const size_t code = places_cpuid_size;
	const size_t entries = ARRAY_LEN(any) + ARRAY_LEN(exact);
	size_t n = code;

	if (room < code + entries * ENTRY + 4)
		return 0;
	memcpy(out, places_cpuid, code);
	for (size_t i = 0; i < entries; i++) {
		bool is_any = i < ARRAY_LEN(any);
		uint32_t leaf = is_any ? any[i] : exact[i - ARRAY_LEN(any)].leaf;
		uint32_t subleaf = is_any ? 0 : exact[i - ARRAY_LEN(any)].subleaf, answer[4];

		if (cpuid_can_fault())
			cpuid_model(leaf, subleaf, answer);
		else
			__cpuid_count(leaf, subleaf, answer[0], answer[1], answer[2], answer[3]);
		bytes_store_u32(out + n, leaf);
		bytes_store_u32(out + n + 4, is_any ? UINT32_MAX : subleaf);
		for (int k = 0; k < 4; k++)
			bytes_store_u32(out + n + 8 + (size_t)k * 4, answer[k]);
		n += ENTRY;
	}
	bytes_store_u32(out + n, UINT32_MAX);
	return n + 4;
}
