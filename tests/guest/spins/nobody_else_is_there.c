/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only task waits for memory that nobody can change, and no timer is armed: a deadlock.
 *: exit 123
 */
static volatile int go;

int main(void)
{
	while (!go)
		;
	return 0;
}
