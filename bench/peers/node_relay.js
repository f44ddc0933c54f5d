#!/usr/bin/env node
// A relay over the npm package ws, for bench/compare. What a turn of Node's
// loop has to say on a socket is written at its end, once: where the seats of a
// room speak at the same time, that is half of what a write a message costs.
//
// Usage: node_relay.js [--port N]    NODE_PATH names the folder that has ws
'use strict';

const { createServer } = require('node:http');
const { parseArgs } = require('node:util');
const { WebSocketServer } = require('ws');

const SUBPROTOCOL = 'fizlet-rooms';
const MESSAGE_BYTES = 12;
const INPUT = 1;
const WELCOME = 3;
const SEED = 0x70617231;
const TOKEN = 1;
const PLAYERS_MAX = 32;
const BACKLOG = 4096;

function refuse(why) {
  process.stderr.write(`node_relay: ${why}\n`);
  process.exit(2);
}

function readPort() {
  let text = '0';
  try {
    const options = { port: { type: 'string', default: text } };
    text = parseArgs({ options }).values.port;
  } catch (error) {
    refuse(error.message);
  }
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    refuse(`--port: ${JSON.stringify(text)} is no number from 0 to 65535`);
  }
  return port;
}

// Seats that were told something in this turn.
const dirty = [];

function writeDirty() {
  for (const seat of dirty) {
    seat.dirty = false;
    seat.tcp.uncork();
  }
  dirty.length = 0;
}

function send(seat, message) {
  if (!seat.dirty) {
    if (dirty.length === 0) setImmediate(writeDirty);
    seat.dirty = true;
    seat.tcp.cork();
    dirty.push(seat);
  }
  seat.socket.send(message);
}

const rooms = new Map();  // number -> { players, seats, left }

function sendWelcome(number, room, slot) {
  const message = Buffer.alloc(MESSAGE_BYTES);
  message[0] = WELCOME;
  message[1] = slot;
  message[2] = room.players;
  message.writeUInt32LE(SEED + number, 4);
  message.writeUInt32LE(TOKEN + slot, 8);
  send(room.seats[slot], message);
}

function relay(room, sender, message) {
  if (message.length !== MESSAGE_BYTES || message[0] !== INPUT ||
      room.seats.length !== room.players) {
    return;
  }
  // ws hands over a part of a buffer that it may have been given whole.
  const relayed = Buffer.from(message);
  relayed[1] = sender.slot;
  for (const seat of room.seats) {
    if (seat !== sender && !seat.gone) send(seat, relayed);
  }
}

function join(socket, tcp, number, players) {
  let room = rooms.get(number);
  if (!room) rooms.set(number, room = { players, seats: [], left: 0 });
  if (room.players !== players || room.seats.length === players) {
    socket.close(4000, 'room full');
    return;
  }
  const seat =
    { socket, tcp, slot: room.seats.length, dirty: false, gone: false };
  room.seats.push(seat);
  socket.on('message', (message) => relay(room, seat, message));
  socket.on('error', () => socket.terminate());
  socket.on('close', () => {
    seat.gone = true;
    if (++room.left === room.seats.length) rooms.delete(number);
  });
  if (room.seats.length === players) {
    for (const { slot } of room.seats) sendWelcome(number, room, slot);
  }
}

const server = createServer((request, response) => {
  response.writeHead(426).end();
});
const sockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
});
server.on('upgrade', (request, tcp, head) => {
  const [, number, players] =
    /^\/room\/(\d{1,9})\?players=(\d{1,2})$/.exec(request.url) ?? [];
  if (!(players >= 1 && players <= PLAYERS_MAX)) {
    tcp.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    return;
  }
  tcp.setNoDelay(true);
  sockets.handleUpgrade(request, tcp, head, (socket) =>
    join(socket, tcp, Number(number), Number(players)));
});
server.on('error', (error) => {
  process.stderr.write(`node_relay: ${error.message}\n`);
  process.exit(1);
});
server.listen({ port: readPort(), host: '127.0.0.1', backlog: BACKLOG }, () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
