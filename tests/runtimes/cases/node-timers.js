// SPDX-License-Identifier: Apache-2.0
// node: timers, immediates and microtasks in their order, races of promises, an hour's time-out.
//: varies
//: patience 2
const { performance } = require('perf_hooks');
const say = (...what) => console.log(...what, Date.now(), performance.now(), process.hrtime.bigint());

say('start', process.pid, Math.random());
setImmediate(() => say('immediate'));
process.nextTick(() => say('tick'));
queueMicrotask(() => say('microtask'));
for (const ms of [30, 10, 20, 10, 0])
	setTimeout(say, ms, 'timeout', ms);
let left = 3;
const interval = setInterval(() => {
	say('interval');
	if (--left === 0)
		clearInterval(interval);
}, 7);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms, ms));
(async () => {
	const jitter = () => sleep(Math.random() * 100);
	say('race', await Promise.race([jitter(), jitter(), jitter(), jitter()]));
	say('any', await Promise.any([jitter(), Promise.reject(new Error('no')), jitter()]));
	say('all', await Promise.all([jitter(), jitter()]));
	const controller = new AbortController();
	setTimeout(() => controller.abort(), 5);
	await require('timers/promises').setTimeout(1000, null, { signal: controller.signal }).catch((e) => say(e.name));
	await sleep(3600 * 1000);
	say('an hour later');
})();
