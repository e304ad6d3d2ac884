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

enum { RDTSC = 0x31, CPUID = 0xa2, JUMP = 5, ENTRY = 24, BRANCHES_MAX = 4096 };

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

/* The instruction at `at` and as many after it as a jump takes the place of. */
static bool cover(const unsigned char *code, size_t len, size_t at, struct arch_place *ret)
{
	size_t end = at + 2;

	while (end < at + JUMP) {
		struct insn insn;

		if (!insn_decode(code + end, len - end, &insn) || !is_movable(&insn))
			return false;
		end += insn.length;
	}
	*ret = (struct arch_place){.is_counter = code[at + 1] == RDTSC, .len = (uint8_t)(end - at)};
	memcpy(ret->code, code + at, end - at);
	return true;
}

/* None of the function's own branches may go where a jump will stand. */
static void drop_targets(const uint64_t *targets, size_t count, struct arch_places *p, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < p->count; i++) {
		const struct arch_place *at = &p->at[i];
		bool hit = false;

		for (size_t k = 0; k < count && !hit; k++)
			hit = targets[k] > at->address && targets[k] < at->address + at->len;
		if (!hit)
			p->at[kept++] = *at;
	}
	p->count = kept;
}

void arch_places_judge(const struct arch_function *f, struct arch_places *p)
{
	static uint64_t targets[BRANCHES_MAX];
	size_t branches = 0, first = p->count;

	p->table_count = 0;
	p->jumps_by_table = false;
	for (size_t at = 0; at < f->len;) {
		struct insn insn;
		const unsigned char *code = f->code + at;
		struct arch_place *place = &p->at[p->count];

		if (branches == BRANCHES_MAX || !insn_decode(code, f->len - at, &insn)) {
			p->count = first;
			return;
		}
		uint64_t next = f->address + at + insn.length;

		if (is_branch(&insn, code, next, &targets[branches]))
			branches++;
		else if (insn.map == MAP_ONE && insn.opcode == 0xff && (insn.modrm >> 3 & 6) == 4)
			p->jumps_by_table = true;
		else if (insn.map == MAP_ONE && insn.opcode == 0x8d && is_relative(&insn) &&
			 p->table_count < ARCH_TABLES_MAX)
			p->table[p->table_count++] = next + (uint64_t)(int64_t)insn.displacement;
		else if (insn.map == MAP_0F && insn.length == 2 &&
			 (insn.opcode == RDTSC || insn.opcode == CPUID) &&
			 p->count < ARCH_PLACES_MAX && cover(f->code, f->len, at, place)) {
			place->address = f->address + at;
			p->count++;
		}
		at += insn.length;
	}
	drop_targets(targets, branches, p, first);
	/* More of them than can be looked at. */
	if (p->jumps_by_table && p->table_count == ARCH_TABLES_MAX)
		p->count = first;
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

size_t arch_place_stub(const struct arch_place *place, const struct arch_stub_at *where,
	unsigned char out[ARCH_STUB_MAX])
{
	/* mov ...(%rip),%rax; mov %rax,%rdx; mov %eax,%eax; bswap %rdx; bswap %edx: one read, so
	 * that both halves are of one time, and no flag changes */
	static const unsigned char counter[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x89, 0xc2,
		0x89, 0xc0, 0x48, 0x0f, 0xca, 0x0f, 0xca};
	static const unsigned char down[] = {
		0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp),%rsp */
	size_t n, from = 2;

	if (place->is_counter) {
		int64_t distance = (int64_t)(where->counter - (where->stub + 7));

		if (!fits(distance))
			return 0;
		n = sizeof(counter);
		memcpy(out, counter, n);
		bytes_store_u32(out + 3, (uint32_t)distance);
	} else {
		n = sizeof(down);
		memcpy(out, down, n);
		if (!jump(out + n, 0xe8, where->stub + n, where->cpuid))
			return 0;
		n += JUMP;
	}
	while (from < place->len) {
		size_t len = move(place->code + from, place->len - from, where->place + from,
			where->stub + n, out + n);

		if (len == 0)
			return 0;
		from += len;
		n += len;
	}
	if (!jump(out + n, 0xe9, where->stub + n, where->place + place->len))
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
	/* What C libraries ask for at their start; of another one the instruction itself answers.
	 */
	static const uint32_t any[] = {
		0, 1, 2, 0x80000000, 0x80000001, 0x80000005, 0x80000006, 0x80000007, 0x80000008};
	static const struct {
		uint32_t leaf, subleaf;
	} exact[] = {{4, 0}, {4, 1}, {4, 2}, {4, 3}, {4, 4}, {7, 0}, {7, 1}, {0xb, 0}, {0xb, 1},
		{0xd, 0}, {0xd, 1}, {0x14, 0}, {0x19, 0}, {0x8000001d, 0}, {0x8000001d, 1},
		{0x8000001d, 2}, {0x8000001d, 3}, {0x8000001d, 4}};
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
