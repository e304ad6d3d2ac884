// SPDX-License-Identifier: Apache-2.0
// node: child processes, their pipes, messages, signals and statuses.
//: varies
const { spawn, exec, execFileSync, fork } = require('child_process');

if (process.argv[2] === 'child') {
	process.on('message', (m) => {
		process.send({ m, pid: process.pid, random: Math.random(), now: Date.now() });
		if (m === 3)
			process.disconnect();
	});
} else {
	console.log(execFileSync('date', ['+%s.%N']).toString().trim(), process.ppid);
	const child = fork(__filename, ['child']);
	child.on('message', (m) => console.log(m));
	child.on('exit', (code) => console.log('forked one:', code, Date.now()));
	for (const m of [1, 2, 3])
		child.send(m);
	const cat = spawn('cat');
	let total = 0;
	cat.stdout.on('data', (data) => { total += data.length; });
	cat.on('close', (code) => console.log('cat', code, total));
	cat.stdin.end(Buffer.alloc(1 << 20, 'x'));
	const sleeper = spawn('sleep', ['100']);
	sleeper.on('exit', (code, signal) => console.log('sleep', code, signal, Date.now()));
	setTimeout(() => sleeper.kill('SIGTERM'), 1500);
	for (const n of [3, 1, 2])
		exec(`sleep 0.${n}; echo $$ ${n}; exit ${n}`, (e, out) => console.log(out.trim(), e && e.code, Date.now()));
	process.on('SIGUSR2', (name) => console.log(name, Date.now()));
	exec(`kill -USR2 ${process.pid}`);
}
