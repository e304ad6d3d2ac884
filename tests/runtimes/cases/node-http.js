// SPDX-License-Identifier: Apache-2.0
// node: a server of HTTP and its clients over loopback, side by side, kept alive, given up on.
//: varies
//: patience 2
const http = require('http');

const server = http.createServer((request, response) => {
	const n = Number(request.url.slice(1));
	request.resume();
	setTimeout(() => {
		response.setHeader('x-port', request.socket.remotePort);
		response.end(`${n} `.repeat(n * 5000));
	}, n === 9 ? 10000 : 50 - n * 5);
});
server.listen(0, '127.0.0.1', () => {
	const { port } = server.address();
	const agent = new http.Agent({ keepAlive: true, maxSockets: 3 });
	const get = (n) => new Promise((resolve) => {
		const request = http.request({ port, agent, path: `/${n}`, method: 'POST' }, (response) => {
			let length = 0;
			response.on('data', (chunk) => { length += chunk.length; });
			response.on('end', () => resolve([n, response.headers['x-port'], response.headers.date, length]));
		});
		request.setTimeout(2000, () => request.destroy(new Error('too slow')));
		request.on('error', (e) => resolve([n, e.message, Date.now()]));
		request.end(Buffer.alloc(n * 30000));
	});
	Promise.all([1, 2, 3, 4, 5, 6, 9].map((n) => get(n).then((told) => console.log(...told)))).then(() => {
		console.log('port', port, Date.now());
		agent.destroy();
		server.closeAllConnections?.();
		server.close();
	});
});
