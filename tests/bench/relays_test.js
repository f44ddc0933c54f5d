// The relays that bench/compare runs beside parlor-host, one after the other,
// by npm's ws: what they must say, and what they must not take.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const WebSocket = require('ws');
const { Peer, Program } = require('../peers/peers.js');

const SUBPROTOCOL = 'fizlet-rooms';
const INPUT = 1;
const WELCOME = 3;

const bin = process.env.PARLOR_BIN;
const NODE_RELAY = path.join(__dirname, '../../bench/peers/node_relay.js');
const RELAYS = process.env.PARLOR_RELAYS.split(',');

class Relay extends Program {
  constructor(name, ...options) {
    // The programs are in one folder, the script is elsewhere.
    super(name === 'node_relay' ? path.relative(bin, NODE_RELAY) : name,
          ...options);
  }

  async address() {
    return (await this.line(/^listening on (127\.0\.0\.1:\d+)$/))[1];
  }

  end() {
    this.kill('SIGTERM');
    return this.exit;
  }
}

function input(frame, value, slot = 99) {
  const message = Buffer.from([INPUT, slot, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
  message.writeUInt32LE(frame, 4);
  message.writeUInt32LE(value, 8);
  return message;
}

function join(address, target) {
  return new Peer(new WebSocket(`ws://${address}${target}`, SUBPROTOCOL));
}

// One after the other, so that each has the seat of its place.
async function seated(address, room, players) {
  const seats = [];
  for (let i = 0; i < players; ++i) {
    seats.push(join(address, `/room/${room}?players=${players}`));
    await seats[i].event('open');
  }
  const welcomes = [];
  for (const seat of seats) welcomes.push(await seat.message());
  return { seats, welcomes };
}

function close(seats) {
  for (const { socket } of seats) socket.terminate();
}

async function playsOneRoom(address) {
  const { seats, welcomes } = await seated(address, 7, 3);
  welcomes.forEach((welcome, slot) => {
    assert.equal(welcome.length, 12);
    assert.deepEqual([...welcome.subarray(0, 4)], [WELCOME, slot, 3, 0]);
    assert.notEqual(welcome.readUInt32LE(8), 0);
    assert.equal(seats[slot].socket.protocol, SUBPROTOCOL);
  });
  for (let frame = 0; frame < 50; ++frame) {
    seats.forEach(({ socket }, slot) =>
      socket.send(input(frame, 1000 * slot + frame)));
  }
  for (const [slot, seat] of seats.entries()) {
    const next = [0, 0, 0];
    for (let i = 0; i < 100; ++i) {
      const message = await seat.message();
      const from = message[1];
      assert.notEqual(from, slot);
      const frame = next[from]++;
      assert.deepEqual(message, input(frame, 1000 * from + frame, from));
    }
  }
  close(seats);
}

// What one room says is not heard in another, and seats are per room.
async function keepsRoomsApart(address) {
  const [one, other] =
    [await seated(address, 1, 2), await seated(address, 2, 2)];
  one.seats[0].socket.send(input(5, 1));
  other.seats[0].socket.send(input(6, 2));
  assert.deepEqual(await one.seats[1].message(), input(5, 1, 0));
  assert.deepEqual(await other.seats[1].message(), input(6, 2, 0));
  close([...one.seats, ...other.seats]);
}

async function answersPings(address) {
  const { seats } = await seated(address, 3, 2);
  seats[0].socket.ping('are you there');
  const [payload] = await seats[0].event('pong');
  assert.equal(payload.toString(), 'are you there');
  seats[0].socket.close(1000);
  assert.equal((await seats[0].closed()).code, 1000);
  // The room goes on without that seat.
  seats[1].socket.ping();
  await seats[1].event('pong');
  close(seats);
}

// A room that everyone left can be filled again.
async function startsAgain(address) {
  for (let match = 0; match < 2; ++match) {
    const { seats } = await seated(address, 4, 2);
    for (const { socket } of seats) socket.close(1000);
    for (const seat of seats) await seat.closed();
  }
}

async function refusesThePath(address) {
  for (const target of ['/', '/room/x?players=2', '/room/1?players=0',
                        '/room/1?players=33']) {
    const peer = join(address, target);
    await peer.events.find(
      ([name]) => name === 'error' || name === 'refused', 'a refusal');
    assert.notEqual(peer.socket.readyState, WebSocket.OPEN);
    close([peer]);
  }
}

function refusesArguments(name) {
  const file = name === 'node_relay' ? NODE_RELAY : path.join(bin, name);
  for (const [option, words] of [['--port=65536', /port/],
                                 ['--nonsense', /nonsense/]]) {
    assert.throws(() => execFileSync(file, [option], { stdio: 'pipe' }),
                  ({ status, stderr }) =>
                    status === 2 && words.test(stderr.toString()));
  }
}

for (const name of RELAYS) {
  test(name, async (t) => {
    const relay = new Relay(name, '--port', 0);
    const address = await relay.address();
    for (const part of [playsOneRoom, keepsRoomsApart, answersPings,
                        startsAgain, refusesThePath]) {
      await t.test(part.name, () => part(address));
    }
    await relay.end();
    await t.test('refusesArguments', () => refusesArguments(name));
  });
}

test('limit_relay --gather', async (t) => {
  // Counted from before what is held was sent.
  await t.test('holds as long as the bound', async () => {
    const boundMs = 300;
    const relay = new Relay('limit_relay', '--gather', `${boundMs}ms`);
    const { seats } = await seated(await relay.address(), 0, 3);
    const sent = performance.now();
    seats[0].socket.send(input(0, 1));
    assert.deepEqual(await seats[2].message(), input(0, 1, 0));
    assert.ok(performance.now() - sent >= boundMs);
    close(seats);
    await relay.end();
  });

  // Without waiting for a bound that no test would.
  await t.test('lets a complete frame go', async () => {
    const relay = new Relay('limit_relay', '--gather', '10s');
    const { seats } = await seated(await relay.address(), 0, 3);
    const sent = performance.now();
    for (let frame = 0; frame < 20; ++frame) {
      seats[0].socket.send(input(frame, 1));
      seats[1].socket.send(input(frame, 2));
      const got = [await seats[2].message(), await seats[2].message()];
      assert.deepEqual(got.map((message) => message[1]).sort(), [0, 1]);
    }
    seats[2].socket.send(input(0, 3));
    for (const seat of [0, 1]) {
      const mine = await seats[seat].message();
      assert.equal(mine[1], 1 - seat);
    }
    assert.ok(performance.now() - sent < 5_000);
    // A seat that leaves is not waited for.
    seats[2].socket.close(1000);
    seats[0].socket.send(input(20, 4));
    for (let frame = 1; frame < 21; ++frame) await seats[1].message();
    assert.ok(performance.now() - sent < 9_000);
    close(seats);
    await relay.end();
  });
});
