// SPDX-License-Identifier: Apache-2.0
// node: a program that makes much garbage, with its collector's threads, weak references and compiled code.
//: varies
//: long
//: option --timeout
//: option 240s
let collected = 0;
const registry = new FinalizationRegistry(() => { collected++; });
let sum = 0;
let keep = [];
for (let round = 0; round < 60; round++) {
	for (let i = 0; i < 20000; i++) {
		const one = { i, text: `text ${i}`, list: [i, i + 1, Math.random()] };
		sum += one.list[2];
		if (i % 1000 === 0) {
			keep.push(one);
			registry.register({ one: i }, i);
		}
	}
	if (keep.length > 500)
		keep = keep.slice(250);
}
for (let i = 0; i < 3e6; i++)
	sum += Math.random();
console.log(sum, keep.length, process.memoryUsage().heapUsed > 0, process.cpuUsage());
setTimeout(() => console.log(collected, new WeakRef(keep).deref() === keep, Date.now()), 100);
