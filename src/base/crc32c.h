/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4): finds damage, proves nothing about who did it. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from the checksum of what came before; 0 to begin. */
uint32_t crc32c(uint32_t before, const void *data, size_t len);
/* The same without the CPU's own instruction, for testing one against the other. */
uint32_t crc32c_by_table(uint32_t before, const void *data, size_t len);

#endif
