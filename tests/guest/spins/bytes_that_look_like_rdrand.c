/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Immediates and data in the text that have the bytes of RDRAND are left as they are.
 *: native
 *: out c7f00fc7 0fc7f00fc7f0
 *: long
 */
#include <stdint.h>
#include <stdio.h>

__asm__(".text\n\t.globl island\nisland:\t.byte 0x0f, 0xc7, 0xf0, 0x0f, 0xc7, 0xf0");
extern const unsigned char island[6];

int main(void)
{
	uint32_t value;

	__asm__ volatile("mov $0xc7f00fc7, %0" : "=r"(value));
	printf("%x ", value);
	for (int i = 0; i < 6; i++)
		printf("%02x", island[i]);
	printf("\n");
	return 0;
}
