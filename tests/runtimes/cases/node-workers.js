// SPDX-License-Identifier: Apache-2.0
// node: worker threads that wait on shared memory, answer in turn, and are ended from outside.
//: varies
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');

if (isMainThread) {
	const shared = new Int32Array(new SharedArrayBuffer(16));
	let open = 4;
	for (let n = 0; n < 4; n++) {
		const worker = new Worker(__filename, { workerData: { shared, n } });
		worker.on('message', (m) => console.log(m));
		worker.on('exit', (code) => {
			console.log('exit', n, code, Date.now(), Atomics.load(shared, 0));
			if (--open === 0)
				console.log('all', Atomics.load(shared, 1));
		});
		if (n === 3)
			setTimeout(() => worker.terminate(), 500);
	}
} else {
	const { shared, n } = workerData;
	console.log('born', n, threadId, Math.random());
	if (n === 0) {
		Atomics.wait(shared, 2, 0, 250);
		Atomics.store(shared, 2, 1);
		parentPort.postMessage([n, 'woke', Atomics.notify(shared, 2), Date.now()]);
	} else if (n === 3) {
		Atomics.wait(shared, 3, 0);
	} else {
		parentPort.postMessage([n, Atomics.wait(shared, 2, 0), Date.now()]);
		for (let i = 0; i < 100000; i++)
			Atomics.add(shared, 1, 1);
	}
	Atomics.add(shared, 0, 1);
}
