// Our client against the npm package ws as a server.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const https = require('node:https');
const { test } = require('node:test');
const { WebSocketServer } = require('ws');
const { CODES, Client, Host, Peer, pattern, words } = require('./peers.js');

const MIB = 1024 * 1024;
const SIZES = [0, 1, 125, 126, 127, 65535, 65536, MIB];
const REASON = `${'ß'.repeat(61)}.`;
const PROTOCOL = 'fizlet-rooms';

// Runs `use` with a server on a port of its own; `options` are ws's.
async function withServer(options, use) {
  const server = new WebSocketServer(
    { host: '127.0.0.1', port: 0, maxPayload: MIB,
      handleProtocols: () => PROTOCOL, ...options });
  const peers = [];
  const arrived = new Promise((resolve) => {
    server.on('connection', (socket, request) => {
      peers.push(Object.assign(new Peer(socket), { request }));
      resolve(peers[0]);
    });
  });
  try {
    if (!server.address()) {
      await new Promise((resolve) => server.on('listening', resolve));
    }
    await use(server.address().port, arrived, server);
  } finally {
    for (const { socket } of peers) socket.terminate();
    server.close();
  }
}

// Runs `use` with our client and the server's end of its connection.
function withLink(clientOptions, use, serverOptions = {}) {
  return withServer(serverOptions, async (port, arrived) => {
    const client = new Client(`ws://127.0.0.1:${port}/base`, '--room', '3',
                              '--players', '2', ...clientOptions);
    await client.line(/^open$/);
    await use(client, await arrived);
    assert.equal(await client.end(), 0);
  });
}

const roomy = ['--message-bytes', MIB, '--reliable-bytes', 2 * MIB];

test('ws as a server: what we ask for', () =>
  withLink(['--access', 'invite.sesame'], async (client, { socket, request }) => {
    assert.equal(request.url, '/base/room/3?players=2');
    assert.equal(request.headers['sec-websocket-protocol'].replaceAll(' ', ''),
                 `${PROTOCOL},invite.sesame`);
    assert.equal(request.headers.origin, undefined);
    assert.equal(socket.protocol, PROTOCOL);
    client.close(1000, 'done');
    assert.deepEqual(await client.closed(),
                     { code: 1000, byUs: true, refusal: 0, reason: 'done' });
  }));

test('ws as a server: messages of every length form, both ways', () =>
  withLink(roomy, async (client, peer) => {
    for (const size of SIZES) {
      client.send(pattern(size));
      assert.ok(pattern(size).equals(await peer.message()));
      client.send(words(size));
      assert.equal(await peer.message(), words(size));

      for (const data of [pattern(size), words(size)]) {
        peer.socket.send(data);
        const kind = typeof data === 'string' ? 'text' : 'binary';
        const bytes = Buffer.from(data).toString('hex');
        await client.lines.find((line) => line === `message ${kind} ${bytes}`,
                                `${kind} of ${size} bytes`);
      }
    }
    client.close(1000);
    assert.equal((await peer.closed()).code, 1000);
  }));

test('ws as a server: a frame is masked with a key of its own', () =>
  withLink([], async (client, peer) => {
    const raw = [];
    peer.socket._socket.on('data', (data) => raw.push(data));
    for (let i = 0; i < 3; ++i) {
      client.send('same');
      await peer.message();
    }
    const bytes = Buffer.concat(raw);
    const keys = new Set();
    for (let at = 0; at < 30; at += 10) {
      assert.equal(bytes[at], 0x81);
      assert.equal(bytes[at + 1], 0x84);
      keys.add(bytes.readUInt32LE(at + 2));
    }
    assert.equal(keys.size, 3);
    client.close(1000);
    await peer.closed();
  }));

test('ws as a server: both lanes arrive', () =>
  withLink([], async (client, peer) => {
    client.send('reliable');
    assert.equal(await peer.message(), 'reliable');
    client.send('state', 'state');
    assert.equal(await peer.message(), 'state');
    client.close(1000);
    await peer.closed();
  }));

test('ws as a server: fragments with pings between them', () =>
  withLink(['--message-bytes', 65536], async (client, peer) => {
    const whole = pattern(300);
    for (let i = 0; i < 3; ++i) {
      peer.socket.send(whole.subarray(100 * i, 100 * (i + 1)),
                       { fin: i === 2, binary: true });
      peer.socket.ping(`between ${i}`);
    }
    await client.line(new RegExp(`^message binary ${whole.toString('hex')}$`));
    // RFC 6455, section 5.5.3: of pings in a row the last may be answered alone.
    await peer.events.find(([name, data]) =>
      name === 'pong' && data.toString() === 'between 2', 'the last pong');
    await client.line(/^control ping$/);
    client.close(1000);
    await peer.closed();
  }));

test('ws as a server: our pings are answered', () =>
  withLink(['--ping-ms', 50], async (client, peer) => {
    await peer.event('ping');
    await client.line(/^control pong$/);
    client.close(1000);
    await peer.closed();
  }));

test('ws as a server: one that answers no pings is lost', () =>
  withLink(['--ping-ms', 50, '--silence-ms', 300], async (client) => {
    assert.equal((await client.closed()).code, 1006);
  }, { autoPong: false }));

for (const code of CODES) {
  test(`ws as a server: closes ${code}, theirs and ours`, async () => {
    await withLink([], async (client, peer) => {
      peer.socket.close(code, REASON);
      assert.deepEqual(await client.closed(),
                       { code, byUs: false, refusal: 0, reason: REASON });
      assert.equal((await peer.closed()).code, code);
    });
    await withLink([], async (client, peer) => {
      client.close(code, REASON);
      assert.deepEqual(await peer.closed(), { code, reason: REASON });
      assert.deepEqual(await client.closed(),
                       { code, byUs: true, refusal: 0, reason: REASON });
    });
  });
}

test('ws as a server: closes without a code', () =>
  withLink([], async (client, peer) => {
    peer.socket.close();
    assert.deepEqual(await client.closed(),
                     { code: 1005, byUs: false, refusal: 0, reason: '' });
    assert.equal((await peer.closed()).code, 1005);
  }));

test('ws as a server: vanishes', () =>
  withLink([], async (client, peer) => {
    peer.socket.terminate();
    assert.equal((await client.closed()).code, 1006);
  }));

test('ws as a server: we abort', () =>
  withLink([], async (client, peer) => {
    client.tell('abort');
    assert.equal((await peer.closed()).code, 1006);
    assert.equal((await client.closed()).code, 1006);
  }));

test('ws as a server: closes at once', () =>
  withServer({}, async (port, arrived, server) => {
    server.on('connection', (socket) => socket.close(1013, 'later'));
    const client = new Client(`ws://127.0.0.1:${port}`);
    await client.line(/^open$/);
    assert.deepEqual(await client.closed(),
                     { code: 1013, byUs: false, refusal: 0, reason: 'later' });
    assert.equal(await client.end(), 0);
  }));

const frame = (...bytes) => (socket) =>
  socket._socket.write(Buffer.from(bytes));
for (const [what, code, offend] of [
  ['text that is not UTF-8', 1007,
   (socket) => socket.send(Buffer.from([0x61, 0xff]), { binary: false })],
  ['a message above the limit', 1009,
   (socket) => socket.send(Buffer.alloc(65_537))],
  ['a frame that is masked', 1002, frame(0x81, 0x81, 1, 2, 3, 4, 0x60)],
  ['a compressed frame', 1002, frame(0xc1, 0x01, 0x61)],
  ['a close 1006', 1002, frame(0x88, 0x02, 0x03, 0xee)],
]) {
  test(`ws as a server: ${what} is closed ${code}`, () =>
    withLink([], async (client, peer) => {
      offend(peer.socket);
      assert.equal((await peer.closed()).code, code);
      const closed = await client.closed();
      assert.equal(closed.code, code);
      assert.equal(closed.byUs, true);
    }));
}

for (const status of [401, 403, 404, 409, 429, 503]) {
  test(`ws as a server: refuses with ${status}`, () =>
    withServer({ verifyClient: (info, answer) => answer(false, status) },
               async (port) => {
      const client = new Client(`ws://127.0.0.1:${port}`);
      const closed = await client.closed();
      assert.equal(closed.code, 1006);
      assert.equal(closed.refusal, status);
      assert.equal(await client.end(), 0);
    }));
}

for (const [what, options, headers] of [
  ['another subprotocol', { handleProtocols: () => 'other' }, []],
  ['no subprotocol', { handleProtocols: () => false }, []],
  ['an extension nobody offered', {},
   ['Sec-WebSocket-Extensions: permessage-deflate']],
]) {
  test(`ws as a server: answers ${what}`, () =>
    withServer(options, async (port, arrived, server) => {
      server.on('headers', (lines) => lines.push(...headers));
      const client = new Client(`ws://127.0.0.1:${port}`);
      const closed = await client.closed();
      assert.equal(closed.code, 1006);
      assert.equal(closed.refusal, 0);
      assert.equal((await (await arrived).closed()).code, 1006);
      assert.equal(await client.end(), 0);
    }));
}

test('ws as a server: compression is not offered', () =>
  withLink([], async (client, peer) => {
    assert.equal(peer.socket.extensions, '');
    client.close(1000);
    await peer.closed();
  }, { perMessageDeflate: { threshold: 0 } }));

test('ws as a server: nobody listens', () =>
  withServer({}, async (port, arrived, server) => {
    await new Promise((resolve) => server.close(resolve));
    const client = new Client(`ws://127.0.0.1:${port}`);
    assert.equal((await client.closed()).code, 1006);
    assert.equal(await client.end(), 0);
  }));

test('ws as a server: the same over TLS', async () => {
  // Only for the files that it makes.
  const maker = new Host('--tls');
  const file = async (name) =>
    (await maker.line(new RegExp(`^${name} (.*)$`)))[1];
  const server = https.createServer(
    { cert: readFileSync(await file('certificate')),
      key: readFileSync(await file('key')) });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `wss://localhost:${server.address().port}`;
  await withServer({ port: undefined, host: undefined, server },
                   async (port, arrived) => {
    const stranger = new Client(url);
    assert.equal((await stranger.closed()).code, 1006);
    assert.equal(await stranger.end(), 0);

    const client = new Client(url, '--authority', await file('authority'));
    await client.line(/^open$/);
    const peer = await arrived;
    client.send(pattern(65_536));
    assert.ok(pattern(65_536).equals(await peer.message()));
    peer.socket.send(words(300));
    await client.line(
      new RegExp(`^message text ${Buffer.from(words(300)).toString('hex')}$`));
    peer.socket.close(4001, REASON);
    assert.deepEqual(await client.closed(),
                     { code: 4001, byUs: false, refusal: 0, reason: REASON });
    assert.equal(await client.end(), 0);
  });
  server.close();
  assert.equal(await maker.end(), 0);
});
