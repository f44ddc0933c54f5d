// The servers that are compared, and how each is started. All of them print
// "listening on" and the address, and end by SIGTERM.
'use strict';

const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const LIMIT = 'limit_relay';
const GATHER = ['--gather', '17ms'];  // one step at 60 Hz

const NODE_RELAY = path.join(__dirname, '../peers/node_relay.js');

// Caps high enough that the load is what is measured, not a refusal of it.
// Everyone here has one address.
const HOST_OPTIONS = [
  '--port', 0, '--open', '--shards', 1, '--drain', '0s',
  '--rooms', 65_536, '--seats', 32, '--lobby', '1h', '--idle', '1h',
  '--message-rate', 10_000, '--message-burst', 20_000,
  '--join-rate', 100_000, '--room-join-rate', 100_000,
  '--unseated', 65_536, '--unseated-per-address', 65_536,
];

const SERVERS = [
  { name: LIMIT, program: 'limit_relay', title: 'bare epoll loop',
    options: ['--port', 0] },
  { name: 'limit_relay-gather', program: 'limit_relay',
    title: 'bare epoll loop, gathered by frame',
    options: ['--port', 0, ...GATHER] },
  { name: 'parlor-host', program: 'parlor-host', title: 'parlor-host',
    options: HOST_OPTIONS },
  { name: 'parlor-host-gather', program: 'parlor-host',
    title: 'parlor-host --gather 17ms',
    options: [...HOST_OPTIONS, ...GATHER], needs: '--gather' },
  { name: 'beast_relay', program: 'beast_relay', title: 'Boost.Beast',
    options: ['--port', 0], library: 'libboost-dev' },
  { name: 'websocketpp_relay', program: 'websocketpp_relay',
    title: 'WebSocket++', options: ['--port', 0],
    library: 'libwebsocketpp-dev' },
  { name: 'node_relay', script: NODE_RELAY, title: 'Node.js ws',
    options: ['--port', 0] },
];

// The file that is run.
function fileOf(server, bin) {
  return server.script ?? path.join(bin, server.program);
}

// Why it cannot be run, or null.
function whyNot(server, bin) {
  const file = fileOf(server, bin);
  if (!existsSync(file)) {
    return `${file} is not there` +
           (server.library ? ` (needs ${server.library})` : '');
  }
  if (!server.needs) return null;
  const { stdout } = spawnSync(file, ['--help'], { encoding: 'utf8' });
  return stdout.includes(server.needs)
    ? null : `${server.program} has no ${server.needs}`;
}

module.exports = { LIMIT, SERVERS, fileOf, whyNot };
