// parlor-host as a client sees it that is not ours: the npm package ws, and
// Node's HTTP for what is no WebSocket. Here is what a page cannot see: the
// statuses of refusals, and what the answers say.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const WebSocket = require('ws');
const { ParlorHost } = require('./host.js');
const { Peer } = require('./peers.js');

const CODE = 'OPEN-SESAME-1';
const ORIGIN = 'https://play.example';
const ACCESS = ['fizlet-rooms', `invite.${CODE}`];

let host;
let address;
let last = 0;

before(async () => {
  host = new ParlorHost({}, '--invite', CODE, '--origin', ORIGIN,
                        '--rooms', 1000, '--seats', 4);
  address = await host.address();
});

after(async () => {
  assert.equal(await host.end(), 0);
  // Nothing of what clients sent is in the log.
  assert.doesNotMatch(host.errors, /sesame|room|players|example/i);
});

// A room that nobody was in before.
const fresh = () => ++last;

function dial(path, protocols = ACCESS, options = {}, to = address) {
  return new Peer(new WebSocket(`ws://${to}${path}`, protocols, options));
}

async function refusal(...request) {
  const [status, headers] = await dial(...request).event('refused');
  return { status, headers };
}

async function open(...request) {
  const peer = dial(...request);
  await peer.event('open');
  return peer;
}

// A message of the room: its kind, slot, players and mode, frame, value.
async function hear(peer) {
  const bytes = await peer.message();
  assert.equal(bytes.length, 12);
  return [...bytes.subarray(0, 4), bytes.readUInt32LE(4),
          bytes.readUInt32LE(8)];
}

const INPUT = 1;
const WELCOME = 3;
const AWAY = 6;
const RESUME = 5;
const LOBBY = 8;

function input(frame) {
  const bytes = Buffer.alloc(12);
  bytes[0] = INPUT;
  bytes.writeUInt32LE(frame, 4);
  return bytes;
}

// Both seats of a room, and their tokens.
async function startMatch(path, to = address) {
  const one = await open(path, ACCESS, {}, to);
  assert.deepEqual(await hear(one), [LOBBY, 0, 2, 1, 0, 0]);
  const two = await open(path, ACCESS, {}, to);
  const [first, second] = [await hear(one), await hear(two)];
  assert.deepEqual(first.slice(0, 4), [WELCOME, 0, 2, 0]);
  assert.deepEqual(second.slice(0, 4), [WELCOME, 1, 2, 0]);
  assert.equal(first[4], second[4]);
  return { peers: [one, two], tokens: [first[5], second[5]] };
}

const resuming = (token) => [...ACCESS, `resume.${token.toString(16)}`];

describe('parlor-host and ws: refusals', () => {
  const rows = [
    ['a room that is not run', 404, '/room/1000?players=2'],
    ['a room that is no number', 404, '/room/01?players=2'],
    ['another path', 404, '/rooms/1?players=2'],
    ['more players than seats', 400, '/room/0?players=5'],
    ['no players', 400, '/room/0'],
    ['another protocol', 400, '/room/0?players=2', ['chat', ACCESS[1]]],
    ['no code', 403, '/room/0?players=2', ['fizlet-rooms']],
    ['a wrong code', 403, '/room/0?players=2',
     ['fizlet-rooms', 'invite.OPEN-SESAME-2']],
    ['a code in the URL', 403, `/room/0?players=2&invite=${CODE}`,
     ['fizlet-rooms']],
    ['another origin', 403, '/room/0?players=2', ACCESS,
     { origin: 'https://other.example' }],
    ['no origin of a page', 403, '/room/0?players=2', ACCESS,
     { origin: 'null' }],
  ];
  for (const [what, status, ...request] of rows) {
    test(`${what} is ${status}`, async () => {
      assert.equal((await refusal(...request)).status, status);
    });
  }

  // Each has all that is wrong with those below it, too.
  const faults = [
    ['the path', 404, { room: 1000 }],
    ['the version', 426, { protocolVersion: 8 }],
    ['the players', 400, { players: 5 }],
    ['the protocol', 400, { protocols: ['chat'] }],
    ['the origin', 403, { origin: 'https://other.example' }],
    ['the code', 403, { protocols: ['fizlet-rooms'] }],
  ];
  faults.forEach(([what, status], i) => {
    test(`${what} is looked at before what follows: ${status}`, async () => {
      const { room = 0, players = 2, protocols = ACCESS, ...options } =
        Object.assign({}, ...faults.slice(i).map(([, , fault]) => fault)
          .reverse());
      const got =
        await refusal(`/room/${room}?players=${players}`, protocols, options);
      assert.equal(got.status, status);
    });
  });

  test('another size is 409, and the room goes on', async () => {
    const path = `/room/${fresh()}?players=`;
    const peer = await open(path + 2);
    assert.equal((await refusal(path + 3)).status, 409);
    assert.deepEqual(await hear(peer), [LOBBY, 0, 2, 1, 0, 0]);
    peer.socket.close(1000);
  });

  test('no upgrade is 426', async () => {
    const response = await fetch(`http://${address}/room/0?players=2`);
    assert.equal(response.status, 426);
    assert.equal(response.headers.get('upgrade'), 'websocket');
  });

  test('another version of WebSocket is 426, and is told which', async () => {
    const { status, headers } =
      await refusal('/room/0?players=2', ACCESS, { protocolVersion: 8 });
    assert.equal(status, 426);
    assert.equal(headers['sec-websocket-version'], '13');
  });

  test('too many tries are 429, with when to come again', async () => {
    const strict = new ParlorHost({ joinRate: 2 }, '--open');
    const to = await strict.address();
    for (let i = 0; i < 2; ++i) {
      const peer = await open(`/room/${i}?players=2`, ACCESS, {}, to);
      peer.socket.close(1000);
    }
    const { status, headers } =
      await refusal('/room/2?players=2', ACCESS, {}, to);
    assert.equal(status, 429);
    assert.match(headers['retry-after'], /^[1-9]\d*$/);
    assert.ok(Number(headers['retry-after']) <= 60);
    const asked =
      await fetch(`http://${to}/invite`, { method: 'POST', body: CODE });
    assert.equal(asked.status, 429);
    assert.match(asked.headers.get('retry-after'), /^[1-9]\d*$/);
    assert.equal(await strict.end(), 0);
  });
});

describe('parlor-host and ws: seats', () => {
  test('the protocol is answered, wherever it was offered', async () => {
    const path = `/room/${fresh()}?players=2`;
    for (const protocols of [ACCESS, [...ACCESS].reverse()]) {
      const peer = await open(path, protocols, { origin: ORIGIN });
      assert.equal(peer.socket.protocol, 'fizlet-rooms');
      assert.equal(peer.socket.extensions, '');
      peer.socket.close(1000);
      assert.equal((await peer.closed()).code, 1000);
    }
  });

  test('a room that plays already closes 4000', async () => {
    const path = `/room/${fresh()}?players=2`;
    const { peers } = await startMatch(path);
    const third = await open(path);
    assert.deepEqual(await third.closed(), { code: 4000, reason: 'room full' });
    for (const peer of peers) peer.socket.close(1000);
  });

  test('a token that is wrong closes 4002, and the seat stays', async () => {
    const path = `/room/${fresh()}?players=2`;
    const { peers: [one, two], tokens } = await startMatch(path);
    one.socket.terminate();
    assert.deepEqual(await hear(two), [AWAY, 0, 2, 0, 0, 0]);
    for (const wrong of ['0', 'x', '123456789', (tokens[0] ^ 1) >>> 0]) {
      const peer = await open(path, resuming(wrong));
      assert.deepEqual(await peer.closed(),
                       { code: 4002, reason: 'seat gone' });
    }
    const back = await open(path, resuming(tokens[0]));
    assert.deepEqual((await hear(back)).slice(0, 2), [WELCOME, 0]);
    assert.deepEqual(await hear(back), [RESUME, 0, 2, 0, 0, 0]);
    assert.deepEqual(await hear(two), [RESUME, 0, 2, 0, 0, 0]);

    // The seat goes to whoever has its token; the old socket is told so.
    const again = await open(path, resuming(tokens[0]));
    assert.deepEqual(await back.closed(), { code: 4001, reason: 'resumed' });
    for (const peer of [again, two]) peer.socket.close(1000);
  });

  test('too many messages close 1008', async () => {
    const path = `/room/${fresh()}?players=2`;
    const { peers: [one, two] } = await startMatch(path);
    for (let frame = 0; frame < 2000; ++frame) one.socket.send(input(frame));
    assert.equal((await one.closed()).code, 1008);
    two.socket.close(1000);
  });

  for (const [what, data] of [['text', 'twelve bytes'],
                              ['11 bytes', Buffer.alloc(11)],
                              ['13 bytes', Buffer.alloc(13)],
                              ['no bytes', Buffer.alloc(0)],
                              ['100,000 bytes', Buffer.alloc(100_000)]]) {
    test(`a message of ${what} closes 1009`, async () => {
      const peer = await open(`/room/${fresh()}?players=2`);
      peer.socket.send(data);
      assert.equal((await peer.closed()).code, 1009);
    });
  }

  test('a room that is not filled closes 1001', async () => {
    const hasty = new ParlorHost({}, '--open', '--lobby', '50ms');
    const peer =
      await open('/room/0?players=2', ACCESS, {}, await hasty.address());
    assert.deepEqual(await peer.closed(),
                     { code: 1001, reason: 'room not filled' });
    assert.equal(await hasty.end(), 0);
  });
});

describe('parlor-host: the sign-in check', () => {
  async function ask(body, headers = {}) {
    const response = await fetch(
      `http://${address}/invite`,
      { method: 'POST', body, headers, duplex: 'half' });
    return { status: response.status, body: await response.text(),
             origin: response.headers.get('access-control-allow-origin') };
  }
  const good = { status: 200, body: '{"ok":true,"players":4}' };
  const bad = { status: 403, body: '{"ok":false}' };
  const rows = [
    ['a good code', good, CODE],
    ['a good code, trimmed, in small letters', good,
     ` ${CODE.toLowerCase()}\r\n`],
    ['a wrong code', bad, 'OPEN-SESAME-2'],
    ['nothing', bad, ''],
    ['two lines', bad, `${CODE}\n${CODE}`],
  ];
  for (const [what, answer, body] of rows) {
    test(what, async () => {
      assert.deepEqual(await ask(body), { ...answer, origin: null });
      // A page may read both answers.
      assert.deepEqual(await ask(body, { origin: ORIGIN }),
                       { ...answer, origin: ORIGIN });
    });
  }

  test('another origin is refused, and may not read why', async () => {
    assert.deepEqual(await ask(CODE, { origin: 'https://other.example' }),
                     { ...bad, origin: null });
  });

  test('a body above 1 KiB is 413, in chunks too', async () => {
    const large = 'A'.repeat(1025);
    assert.equal((await ask(large)).status, 413);
    assert.equal((await ask(new Blob([large]).stream())).status, 413);
    assert.equal((await ask('A'.repeat(1024))).status, 403);
  });

  test('it is asked with POST', async () => {
    const response = await fetch(`http://${address}/invite`);
    assert.equal(response.status, 405);
  });
});

describe('parlor-host: the end', () => {
  async function health(to) {
    const response = await fetch(`http://${to}/healthz`);
    return { status: response.status, ...await response.json() };
  }

  // The signal is on its way for a moment.
  async function drain(host, to) {
    host.kill('SIGTERM');
    for (let looks = 0; (await health(to)).status === 200; ++looks) {
      assert.ok(looks < 10_000, 'the host does not drain');
    }
  }

  test('a drain refuses joins and lets seats resume', async () => {
    const draining = new ParlorHost({ drain: '80s' }, '--invite', CODE);
    const to = await draining.address();
    const path = '/room/0?players=2';
    const { peers: [one, two], tokens } = await startMatch(path, to);
    const { status, uptime, ...rest } = await health(to);
    assert.deepEqual({ status, ...rest },
                     { status: 200, ok: true, rooms: 1, players: 2 });
    assert.ok(uptime >= 0);

    await drain(draining, to);
    assert.equal((await health(to)).ok, false);
    for (const room of ['/room/1?players=2', '/room/1000000', '/room/x']) {
      assert.equal((await refusal(room, ACCESS, {}, to)).status, 503);
    }

    one.socket.terminate();
    assert.deepEqual(await hear(two), [AWAY, 0, 2, 0, 0, 0]);
    const back = await open(path, resuming(tokens[0]), {}, to);
    assert.deepEqual((await hear(back)).slice(0, 2), [WELCOME, 0]);

    // A second signal ends at once.
    draining.kill('SIGTERM');
    for (const peer of [back, two]) {
      assert.equal((await peer.closed()).code, 1006);
    }
    assert.equal(await draining.exit, 'SIGTERM');
  });

  test('when a drain is over, everyone is told that it restarts', async () => {
    const draining = new ParlorHost({ drain: '10ms' }, '--invite', CODE);
    const { peers } =
      await startMatch('/room/0?players=2', await draining.address());
    draining.kill('SIGTERM');
    for (const peer of peers) assert.equal((await peer.closed()).code, 1012);
    assert.equal(await draining.exit, 0);
  });
});
