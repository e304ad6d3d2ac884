// SPDX-License-Identifier: Apache-2.0
// The code of the pack: its behaviors, and the loop that serves them; docs/format/pack.md.
'use strict';
const fs = require('fs');

let rest = Buffer.alloc(0);
const chunk = Buffer.alloc(65536);

// One message, waited for; undefined at the end.
function hear() {
	for (;;) {
		const end = rest.indexOf(10);
		if (end >= 0) {
			const line = rest.subarray(0, end).toString('utf8');
			rest = Buffer.from(rest.subarray(end + 1));
			return JSON.parse(line);
		}
		const count = fs.readSync(3, chunk);
		if (count === 0) return undefined;
		rest = Buffer.concat([rest, chunk.subarray(0, count)]);
	}
}

function tell(message) {
	let bytes = Buffer.from(JSON.stringify(message) + '\n');
	while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(4, bytes));
}

// What a behavior or scenario can do to the fork.
const runtime = {
	ask(request) {
		tell(request);
		for (let m = hear(); m; m = hear()) {
			if (m.reply) return m.reply;
			if (m.refused) throw new Error(m.refused);
			doOne(m);
		}
		process.exit(0);
	},
	append(type, payload, more) {
		return runtime.ask({ append: { type, payload, ...more } }).id;
	},
	runUntilIdle() {
		runtime.ask({ idle: {} });
	},
};

const behaviors = {
	greet: {
		on: ['greeting.asked'],
		run(event) {
			runtime.append('greeting.given', { text: `hello, ${event.payload.name}` });
		},
	},
};

function describe() {
	const list = Object.entries(behaviors).map(([name, b]) => ({ name, on: b.on }));
	return { name: 'example', version: '0.1.0', behaviors: list };
}

function doOne(m) {
	let done = {};
	if (m.do === 'end') process.exit(0);
	try {
		if (m.do === 'describe') done = { surface: describe() };
		else if (m.do === 'scenario') require(`${process.cwd()}/${m.file}`)[m.function](runtime);
		else behaviors[m.behavior].run(m.event);
	} catch (problem) {
		tell({ failed: String(problem), nonce: m.nonce });
		return;
	}
	tell({ done: m.nonce, ...done });
}

for (let m = hear(); m; m = hear()) doOne(m);
