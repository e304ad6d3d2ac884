// SPDX-License-Identifier: Apache-2.0
// node: a worker that waits for a word of shared memory with nothing in its loop.
//: either impure_spin
//: out seen
//: long
//: option --timeout
//: option 240s
const { Worker, isMainThread, workerData } = require('worker_threads');

if (isMainThread) {
	const shared = new Int32Array(new SharedArrayBuffer(8));
	const worker = new Worker(__filename, { workerData: shared });
	worker.on('exit', () => console.log('seen'));
	setTimeout(() => Atomics.store(shared, 0, 1), 1000);
} else {
	while (Atomics.load(workerData, 0) === 0)
		;
}
