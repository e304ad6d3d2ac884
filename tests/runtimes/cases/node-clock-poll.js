// SPDX-License-Identifier: Apache-2.0
// node: polls the clock until it moves.
//: unenforced clock_spin
//: exit 121
const end = Date.now() + 50;
while (Date.now() < end)
	;
console.log('moved');
