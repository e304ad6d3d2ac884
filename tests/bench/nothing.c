/* SPDX-License-Identifier: Apache-2.0 */
/* The program that the bench starts where only the start counts; linked without a dynamic loader.
 */

int main(void)
{
	return 0;
}
