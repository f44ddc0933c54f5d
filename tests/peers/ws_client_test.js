// The npm package ws as a client of our server.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { after, before, describe, test } = require('node:test');
const WebSocket = require('ws');
const { CODES, Host, Peer, pattern, words } = require('./peers.js');

const MIB = 1024 * 1024;
// On both sides of where a length takes more bytes, and the largest message.
const SIZES = [0, 1, 125, 126, 127, 65535, 65536, MIB];
// As long as a close can carry.
const REASON = `${'ß'.repeat(61)}.`;

let host;
let port;
let last = 0;

before(async () => {
  host = new Host('--message-bytes', MIB, '--reliable-bytes', 2 * MIB,
                  '--protocol', 'parlor.a', '--protocol', 'parlor.b');
  port = await host.port();
});
after(async () => assert.equal(await host.end(), 0));

// An open connection of its own, and what our side calls it.
async function open(protocols = [], options = {}) {
  const target = `/${++last}`;
  const peer = new Peer(
    new WebSocket(`ws://127.0.0.1:${port}${target}`, protocols, options));
  await peer.event('open');
  return { peer, socket: peer.socket, id: await host.opened(target) };
}

// Ends as it should: what the peer says is what we hear, and the other way.
async function closesWell({ peer, socket, id }) {
  socket.close(1000, 'done');
  assert.deepEqual(await host.closed(id),
                   { code: 1000, byUs: false, refusal: 0, reason: 'done' });
  assert.equal((await peer.closed()).code, 1000);
}

describe('ws as a client: messages', () => {
  for (const size of SIZES) {
    test(`${size} bytes, binary and text, come back`, async () => {
      const link = await open();
      link.socket.send(pattern(size));
      assert.ok(pattern(size).equals(await link.peer.message()));
      link.socket.send(words(size));
      assert.equal(await link.peer.message(), words(size));
      await closesWell(link);
    });
  }

  test('a thousand at once come back in order', async () => {
    const link = await open();
    for (let i = 0; i < 1000; ++i) link.socket.send(`message ${i}`);
    for (let i = 0; i < 1000; ++i) {
      assert.equal(await link.peer.message(), `message ${i}`);
    }
    await closesWell(link);
  });

  test('fragments with pings between them are one message', async () => {
    const link = await open();
    const { peer, socket } = link;
    const whole = pattern(70_000);
    const cuts = [0, 1, 1, 126, 65_700, whole.length];
    for (let i = 1; i < cuts.length; ++i) {
      socket.send(whole.subarray(cuts[i - 1], cuts[i]),
                  { fin: i === cuts.length - 1, binary: true });
      socket.ping(`between ${i}`);
    }
    assert.ok(whole.equals(await peer.message()));
    // RFC 6455, section 5.5.3: of pings in a row the last may be answered alone.
    const answer = `between ${cuts.length - 1}`;
    await peer.events.find(([name, data]) =>
      name === 'pong' && data.toString() === answer, answer);
    await closesWell(link);
  });

  test('a character may be cut by fragments', async () => {
    const link = await open();
    const face = Buffer.from('😀');
    link.socket.send(face.subarray(0, 2), { fin: false, binary: false });
    link.socket.send(face.subarray(2), { fin: true, binary: false });
    assert.equal(await link.peer.message(), '😀');
    await closesWell(link);
  });

  test('pings are answered with what they carry, and reported', async () => {
    for (const data of [Buffer.alloc(0), pattern(125)]) {
      const link = await open();
      link.socket.ping(data);
      assert.ok(data.equals((await link.peer.event('pong'))[0]));
      link.socket.pong('unasked');
      await host.line(new RegExp(`^control ${link.id} ping$`));
      await host.line(new RegExp(`^control ${link.id} pong$`));
      await closesWell(link);
    }
  });

  test('the state lane is a message like any other', async () => {
    const link = await open();
    link.socket.send('do state as it is');
    assert.equal(await link.peer.message(), 'as it is');
    await closesWell(link);
  });

  test('what we queued before a close arrives before it', async () => {
    const { peer, socket, id } = await open();
    socket.send('do flood 20 65536');
    socket.send('do close 1000 flushed');
    for (let i = 0; i < 20; ++i) {
      assert.equal((await peer.message()).length, 65536);
    }
    assert.deepEqual(await peer.closed(), { code: 1000, reason: 'flushed' });
    assert.equal((await host.closed(id)).byUs, true);
  });
});

describe('ws as a client: closes', () => {
  for (const code of CODES) {
    test(`${code} by ws and by us`, async () => {
      const theirs = await open();
      theirs.socket.close(code, REASON);
      assert.deepEqual(await host.closed(theirs.id),
                       { code, byUs: false, refusal: 0, reason: REASON });
      assert.equal((await theirs.peer.closed()).code, code);

      const ours = await open();
      ours.socket.send(`do close ${code} ${REASON}`);
      assert.deepEqual(await ours.peer.closed(), { code, reason: REASON });
      assert.deepEqual(await host.closed(ours.id),
                       { code, byUs: true, refusal: 0, reason: REASON });
    });
  }

  test('without a code', async () => {
    const { peer, socket, id } = await open();
    socket.close();
    assert.deepEqual(await host.closed(id),
                     { code: 1005, byUs: false, refusal: 0, reason: '' });
    assert.equal((await peer.closed()).code, 1005);
  });

  test('ws vanishes', async () => {
    const { socket, id } = await open();
    socket.terminate();
    const { code, byUs } = await host.closed(id);
    assert.deepEqual({ code, byUs }, { code: 1006, byUs: false });
  });

  test('we abort', async () => {
    const { peer, socket, id } = await open();
    socket.send('do abort');
    assert.equal((await peer.closed()).code, 1006);
    assert.equal((await host.closed(id)).code, 1006);
  });

  test('a lane over its limit', async () => {
    const { peer, socket, id } = await open();
    socket.send(`do flood 3 ${MIB}`);
    assert.equal((await peer.closed()).code, 1011);
    assert.deepEqual(await host.closed(id),
                     { code: 1011, byUs: true, refusal: 0,
                       reason: 'too slow' });
  });
});

describe('ws as a client: what may not be', () => {
  const frame = (...bytes) => (socket) =>
    socket._socket.write(Buffer.from(bytes));
  const mask = [0, 0, 0, 0];
  const rows = [
    ['text that is not UTF-8', 1007, (socket) =>
      socket.send(Buffer.from([0x61, 0xff]), { binary: false })],
    ['text that ends inside a character, in fragments', 1007, (socket) => {
      socket.send(Buffer.from([0xf0, 0x9f]), { binary: false, fin: false });
      socket.send(Buffer.from([0x98]), { fin: true });
    }],
    ['a message above the limit', 1009, (socket) =>
      socket.send(Buffer.alloc(MIB + 1))],
    ['fragments above the limit', 1009, (socket) => {
      socket.send(Buffer.alloc(MIB), { fin: false });
      socket.send(Buffer.alloc(1), { fin: true });
    }],
    ['the announcement of 2^62 bytes', 1009,
     frame(0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, ...mask)],
    ['a frame that is not masked', 1002, frame(0x81, 0x01, 0x61)],
    ['an extension nobody agreed to', 1002, frame(0xc1, 0x80, ...mask)],
    ['an opcode without a meaning', 1002, frame(0x83, 0x80, ...mask)],
    ['a continuation of nothing', 1002, frame(0x80, 0x80, ...mask)],
    ['a message inside a message', 1002,
     frame(0x01, 0x80, ...mask, 0x81, 0x80, ...mask)],
    ['a ping in fragments', 1002, frame(0x09, 0x80, ...mask)],
    ['a ping of 126 bytes', 1002, frame(0x89, 0xfe, 0, 126, ...mask)],
    ['a length in more bytes than it needs', 1002,
     frame(0x82, 0xfe, 0, 125, ...mask)],
    ['a close of one byte', 1002, frame(0x88, 0x81, ...mask, 3)],
    ['a close 1005', 1002, frame(0x88, 0x82, ...mask, 0x03, 0xed)],
    ['a close 2999', 1002, frame(0x88, 0x82, ...mask, 0x0b, 0xb7)],
    ['a close whose text is not UTF-8', 1007,
     frame(0x88, 0x83, ...mask, 0x03, 0xe8, 0xff)],
  ];
  for (const [what, code, offend] of rows) {
    test(`${what} closes ${code}`, async () => {
      const { peer, socket, id } = await open();
      offend(socket);
      assert.equal((await peer.closed()).code, code);
      const closed = await host.closed(id);
      assert.equal(closed.code, code);
      assert.equal(closed.byUs, true);
    });
  }
});

describe('ws as a client: the handshake', () => {
  const rows = [
    ['one that we speak', ['parlor.b'], 'parlor.b'],
    ['the first that we speak', ['other', 'parlor.b', 'parlor.a'], 'parlor.b'],
    ['none', [], ''],
  ];
  for (const [what, offered, chosen] of rows) {
    test(`subprotocols: ${what}`, async () => {
      const link = await open(offered);
      assert.equal(link.socket.protocol, chosen);
      await host.line(new RegExp(`^open ${link.id} \\S+ ${chosen || '-'} -$`));
      await closesWell(link);
    });
  }

  test('subprotocols: ws gives up when none is taken', async () => {
    const peer = new Peer(
      new WebSocket(`ws://127.0.0.1:${port}/none`, ['other']));
    const [error] = await peer.event('error');
    assert.match(error.message, /no subprotocol/);
    assert.equal((await host.closed(await host.opened('/none'))).code, 1006);
  });

  test('compression is offered and not taken', async () => {
    const link = await open([], { perMessageDeflate: true });
    assert.equal(link.socket.extensions, '');
    link.socket.send('a'.repeat(10_000));
    assert.equal(await link.peer.message(), 'a'.repeat(10_000));
    await closesWell(link);
  });

  for (const status of [400, 403, 404, 409, 429, 503]) {
    test(`refused with ${status}`, async () => {
      const peer = new Peer(
        new WebSocket(`ws://127.0.0.1:${port}/refuse/${status}`));
      const [got, headers] = await peer.event('refused');
      assert.equal(got, status);
      assert.equal(headers['retry-after'], '7');
    });
  }

  test('a version that is not 13 is told which one is', async () => {
    const peer = new Peer(
      new WebSocket(`ws://127.0.0.1:${port}/`, { protocolVersion: 8 }));
    const [status, headers] = await peer.event('refused');
    assert.equal(status, 426);
    assert.equal(headers['sec-websocket-version'], '13');
  });
});

test('ws as a client: our pings are answered', async () => {
  const lively = new Host('--ping-ms', 50, '--silence-ms', 10_000);
  const peer = new Peer(
    new WebSocket(`ws://127.0.0.1:${await lively.port()}/`));
  await peer.event('ping');
  await lively.line(/^control 1 pong$/);
  peer.socket.close(1000);
  assert.equal((await lively.closed(1)).code, 1000);
  assert.equal(await lively.end(), 0);
});

test('ws as a client: one that answers no pings is lost', async () => {
  const lively = new Host('--ping-ms', 50, '--silence-ms', 300);
  const peer = new Peer(
    new WebSocket(`ws://127.0.0.1:${await lively.port()}/`,
                  { autoPong: false }));
  await peer.event('ping');
  assert.equal((await lively.closed(1)).code, 1006);
  assert.equal((await peer.closed()).code, 1006);
  assert.equal(await lively.end(), 0);
});

test('ws as a client: the same over TLS', async () => {
  const safe = new Host('--tls');
  const ca = readFileSync((await safe.line(/^authority (.*)$/))[1]);
  const url = `wss://localhost:${await safe.port()}/tls`;
  const stranger = new Peer(new WebSocket(url));
  const [error] = await stranger.event('error');
  assert.match(error.code, /CERT|SIGNATURE|ISSUER/);

  const peer = new Peer(new WebSocket(url, { ca }));
  await peer.event('open');
  const id = await safe.opened('/tls');
  for (const size of [0, 125, 126, 65_536]) {
    peer.socket.send(pattern(size));
    assert.ok(pattern(size).equals(await peer.message()));
  }
  peer.socket.send(`do close 1012 ${REASON}`);
  assert.deepEqual(await peer.closed(), { code: 1012, reason: REASON });
  assert.deepEqual(await safe.closed(id),
                   { code: 1012, byUs: true, refusal: 0, reason: REASON });
  assert.equal(await safe.end(), 0);
});
