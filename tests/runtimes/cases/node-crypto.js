// SPDX-License-Identifier: Apache-2.0
// node: keys, random numbers and compression, in its pool of threads.
//: varies
const crypto = require('crypto');
const zlib = require('zlib');
const { promisify } = require('util');

console.log(crypto.randomUUID(), crypto.randomBytes(8).toString('hex'), crypto.randomInt(1e6));
console.log(crypto.webcrypto.getRandomValues(new Uint32Array(2)));
const pool = [
	promisify(crypto.pbkdf2)('word', crypto.randomBytes(8), 20000, 16, 'sha256'),
	promisify(crypto.scrypt)('word', 'salt', 16),
	promisify(crypto.randomBytes)(16),
	promisify(crypto.pbkdf2)('word', 'salt', 1000, 16, 'sha512'),
].map((p, n) => p.then((key) => console.log('pool', n, key.toString('hex'))));
const text = Buffer.from(Array.from({ length: 200000 }, (_, i) => i % 251));
const packed = ['gzip', 'deflate', 'brotliCompress'].map((name) =>
	promisify(zlib[name])(text).then((data) => console.log(name, data.length, crypto.createHash('sha256').update(data).digest('hex'))));
Promise.all([...pool, ...packed]).then(() => {
	const { publicKey, privateKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const sign = crypto.sign('sha256', text, privateKey);
	console.log(sign.toString('hex'), crypto.verify('sha256', text, publicKey, sign));
	crypto.generateKeyPair('rsa', { modulusLength: 1024 }, (e, key) => {
		console.log(e, key.export({ type: 'spki', format: 'der' }).toString('hex'));
	});
});
