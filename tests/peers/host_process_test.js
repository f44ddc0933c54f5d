// parlor-host as its operator and its players meet it: started, asked, joined,
// and told to end.
'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { mkdtempSync, readlinkSync, rmSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { after, describe, test } = require('node:test');
const WebSocket = require('ws');
const { Peer, Record } = require('./peers.js');

const EXE = path.join(process.env.PARLOR_BIN, 'parlor-host');
const CODE = 'SESAME-OPEN-1';
// Where clients come from, which is not where the host listens: it must not be
// in the log.
const CLIENT = '127.0.0.3';
// What anything may take that is to happen "at once", on a busy machine.
const SOON_MS = 5_000;
const WELCOME = 3;
const INPUT = 1;

const running = new Set();
after(() => running.forEach((child) => child.kill('SIGKILL')));

// A parlor-host that was started with `options`; `shell` is put in front:
// "ulimit -n 99;".
class HostProcess {
  constructor(options, shell = '') {
    this.lines = new Record();
    this.out = '';
    this.log = '';
    this.child = spawn(
      'bash', ['-c', `${shell} exec "$0" "$@"`, EXE, ...options.map(String)],
      { stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(this.child);
    this.child.stdout.on('data', (data) => { this.out += data; });
    this.child.stderr.on('data', (data) => { this.log += data; });
    createInterface({ input: this.child.stdout })
      .on('line', (line) => this.lines.add(line));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        running.delete(this.child);
        this.lines.end(`parlor-host ended (${signal ?? code}): ${this.log}`);
        resolve(signal ?? code);
      });
    });
  }

  // The port that it listens on for `scheme`.
  async port(scheme = 'http') {
    const pattern = new RegExp(`^listening on ${scheme}://127\\.0\\.0\\.1:(\\d+)$`);
    return Number(
      (await this.lines.find((line) => pattern.exec(line), pattern))[1]);
  }

  signal(name) { this.child.kill(name); }

  // {status, headers, body}
  async ask(method, target, body = '') {
    const port = await this.port();
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port, path: target, method, localAddress: CLIENT,
          agent: false },
        (response) => {
          let text = '';
          response.on('data', (data) => { text += data; });
          response.on('end', () => resolve(
            { status: response.statusCode, headers: response.headers,
              body: text }));
        });
      request.on('error', reject);
      request.end(body);
    });
  }

  // A player of room 0; events as of Peer.
  async join(players, code = CODE) {
    return new Peer(new WebSocket(
      `ws://127.0.0.1:${await this.port()}/room/0?players=${players}`,
      ['fizlet-rooms', `invite.${code}`], { localAddress: CLIENT }));
  }

  // Turns until /healthz says that it drains.
  async draining() {
    for (const end = Date.now() + SOON_MS; Date.now() < end;) {
      const answer = await this.ask('GET', '/healthz');
      if (answer.status === 503) return JSON.parse(answer.body);
    }
    throw new Error('never drains');
  }

  // Nothing of a client's may ever be in it.
  assertSilent() {
    for (const secret of [CODE, CODE.toLowerCase(), CLIENT, 'GET', 'POST',
                          '/room', '/secret', 'fizlet']) {
      assert.ok(!`${this.log}${this.out}`.includes(secret),
                `${secret} in ${this.log}`);
    }
  }
}

// Runs to its end: {code, out, err}.
async function run(...options) {
  const host = new HostProcess(options);
  const code = await host.ended;
  return { code, out: host.out, err: host.log };
}

const message = (kind, frame) => {
  const bytes = Buffer.alloc(12);
  bytes[0] = kind;
  bytes.writeUInt32LE(frame, 4);
  return bytes;
};

// The next message of a kind; others are passed over.
async function messageOf(peer, kind) {
  for (;;) {
    const bytes = await peer.message();
    if (bytes[0] === kind) return bytes;
  }
}

describe('parlor-host: started', () => {
  test('says where it listens, and what its caps add up to', async () => {
    const host = new HostProcess(
      ['--port=0', '--tcp-port=0', '--shards=2', '--invite', CODE,
       '--rooms=10', '--seats=4', '--message-rate=100']);
    const ports = [await host.port(), await host.port('tcp')];
    assert.notEqual(ports[0], ports[1]);
    await host.lines.find((line) => line.startsWith(
      'worst case: 10 rooms x 4 seats x 100 messages a second = 4,000 in and ' +
      '12,000 relayed'), 'the worst case');
    await host.lines.find((line) => /^memory at the worst: [0-9.]+ GiB/.exec(line),
                          'memory');
    assert.ok(!host.out.includes('every join will be refused'));
    const tcp = net.connect({ port: ports[1], host: '127.0.0.1' });
    await new Promise((resolve) => tcp.on('connect', resolve));
    tcp.destroy();
    host.signal('SIGINT');
    host.signal('SIGINT');
    await host.ended;
  });

  test('says that nobody can come in, and lets nobody in', async () => {
    const host = new HostProcess(['--port=0', '--drain=0s']);
    await host.lines.find(
      (line) => line === 'every join will be refused: there is no code ' +
                         '(--invite, or --access FILE and parlor-host invite ' +
                         'new), no --passes and no --open', 'that it says so');
    const peer = await host.join(1);
    assert.equal((await peer.event('refused'))[0], 403);
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
  });

  test('reads its file, and takes back what it prints', async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'parlor-host-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'host.json');
    const printed = await run('--port=0', '--seats=5', '--open', '--drain=0s',
                              '--print-config');
    assert.deepEqual([printed.code, printed.err], [0, '']);
    writeFileSync(file, printed.out);
    const host = new HostProcess(['--config', file]);
    const answer = await host.ask('POST', '/invite', 'any');
    assert.deepEqual(JSON.parse(answer.body), { ok: true, players: 5 });
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
  });

  test('says in one line what is wrong, and starts nothing', async () => {
    const host = new HostProcess(['--port=0', '--open', '--drain=0s']);
    const port = await host.port();
    const rows = [
      [['--hold=2x'], 2,
       'parlor-host: --hold: 2x is not a duration such as 2s or 500ms\n'],
      [['--config=/no/such'], 2,
       'parlor-host: /no/such: cannot read it: No such file or directory\n'],
      [['--invite', 'SHORT'], 2, /^parlor-host: --invite\[0\]: [^\n]*\n$/],
      [['--port', port], 1,
       new RegExp(`^parlor-host: [^\\n]*127\\.0\\.0\\.1 port ${port}: ` +
                  'Address already in use\n$')],
      [['--port=0', '--tcp-port', port], 1, /^parlor-host: .* already in use\n$/],
      [['--port=0', '--bind=192.0.2.1'], 1,
       /^parlor-host: [^\n]*192\.0\.2\.1 port 0: [^\n]*\n$/],
    ];
    for (const [options, code, line] of rows) {
      const ended = await run(...options);
      assert.deepEqual([ended.code, ended.out], [code, ''], options.join(' '));
      if (typeof line === 'string') assert.equal(ended.err, line);
      else assert.match(ended.err, line);
    }
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
  });

  test('takes what descriptors it may have, and says if they are few', async () => {
    const host = new HostProcess(['--port=0', '--open', '--drain=0s'],
                                'ulimit -Sn 100; ulimit -Hn 300;');
    await host.port();
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
    assert.match(host.log, /warning: the system grants 300 descriptors, and/);
    const few = new HostProcess(
      ['--port=0', '--open', '--drain=0s', '--connections=100'],
      'ulimit -Sn 100; ulimit -Hn 300;');
    await few.port();
    few.signal('SIGTERM');
    assert.equal(await few.ended, 0);
    assert.ok(!few.log.includes('descriptors'), few.log);
  });

  // A socket in place of stderr would be told the log.
  test('keeps closed standard streams from sockets', async () => {
    const host = new HostProcess(['--port=0', '--open', '--drain=0s'],
                                'exec <&- 2>&-;');
    await host.ask('GET', '/healthz');
    for (const fd of [0, 2]) {
      assert.equal(readlinkSync(`/proc/${host.child.pid}/fd/${fd}`), '/dev/null');
    }
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
  });
});

describe('parlor-host: asked', () => {
  test('answers by its paths, and logs nothing of it', async () => {
    const host = new HostProcess(
      ['--port=0', '--drain=0s', '--invite', 'ANOTHER-CODE', '--invite', CODE]);
    const health = await host.ask('GET', '/healthz');
    assert.equal(health.status, 200);
    const { uptime, ...rest } = JSON.parse(health.body);
    assert.deepEqual(rest, { ok: true, rooms: 0, players: 0 });
    assert.ok(uptime >= 0 && uptime < 60);

    const good = await host.ask('POST', '/invite', ` ${CODE.toLowerCase()}\n`);
    assert.equal(good.status, 200);
    assert.deepEqual(JSON.parse(good.body), { ok: true, players: 8 });
    const bad = await host.ask('POST', '/invite', 'NOT-A-CODE-1');
    assert.equal(bad.status, 403);
    assert.deepEqual(JSON.parse(bad.body), { ok: false });
    assert.equal((await host.ask('POST', '/invite', 'X'.repeat(1025))).status, 413);

    const upgrade = await host.ask('GET', '/room/0?players=2');
    assert.equal(upgrade.status, 426);
    assert.equal(upgrade.headers.upgrade, 'websocket');
    assert.equal((await host.ask('GET', '/secret')).status, 404);
    assert.equal((await host.ask('GET', '/room/1024?players=2')).status, 404);
    const refused = await host.join(2, 'NOT-A-CODE-1');
    assert.equal((await refused.event('refused'))[0], 403);

    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
    host.assertSilent();
  });

  test('relays between seats, and takes 12 bytes alone', async () => {
    const host = new HostProcess(['--port=0', '--drain=0s', '--invite', CODE]);
    const a = await host.join(2);
    await a.event('open');
    const b = await host.join(2);
    for (const peer of [a, b]) await messageOf(peer, WELCOME);
    const health = JSON.parse((await host.ask('GET', '/healthz')).body);
    assert.deepEqual([health.rooms, health.players], [1, 2]);
    a.socket.send(message(INPUT, 7));
    assert.equal((await messageOf(b, INPUT)).readUInt32LE(4), 7);
    a.socket.send(Buffer.alloc(13));
    assert.equal((await a.closed()).code, 1009);
    b.socket.send(Buffer.alloc(4_000));
    assert.equal((await b.closed()).code, 1009);
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
    host.assertSilent();
  });
});

describe('parlor-host: told to end', () => {
  // Refused are those who come; who plays goes on for the drain's time, and is
  // told to come back.
  for (const signal of ['SIGTERM', 'SIGINT']) {
    test(`${signal} drains`, async () => {
      const drain = 4_000;  // a busy machine has to say so much within it
      const host = new HostProcess(
        ['--port=0', `--drain=${drain}ms`, '--invite', CODE]);
      const players = [await host.join(2)];
      await players[0].event('open');
      players.push(await host.join(2));
      for (const peer of players) await messageOf(peer, WELCOME);

      const from = performance.now();
      host.signal(signal);
      const health = await host.draining();
      assert.deepEqual([health.ok, health.players], [false, 2]);
      const late = await host.join(2);
      assert.equal((await late.event('refused'))[0], 503);
      players[0].socket.send(message(INPUT, 1));
      await messageOf(players[1], INPUT);
      for (const peer of players) {
        assert.equal((await peer.closed()).code, 1012);
      }
      assert.ok(performance.now() - from >= drain, 'the drain was cut short');
      assert.equal(await host.ended, 0);
      assert.ok(performance.now() - from < drain + SOON_MS);
      host.assertSilent();
    });
  }

  test('the second one ends it at once', async () => {
    for (const [first, second] of [['SIGTERM', 'SIGTERM'],
                                   ['SIGINT', 'SIGTERM'],
                                   ['SIGTERM', 'SIGINT']]) {
      const host = new HostProcess(['--port=0', '--drain=60s', '--invite', CODE]);
      const peer = await host.join(1);
      await messageOf(peer, WELCOME);
      host.signal(first);
      await host.draining();
      const from = performance.now();
      host.signal(second);
      assert.equal(await host.ended, second);
      assert.equal((await peer.closed()).code, 1006);
      assert.ok(performance.now() - from < SOON_MS);
      assert.match(host.log, /ended at once by a second signal, with 1 player\n/);
      host.assertSilent();
    }
  });

  // One that answers no close has the linger's five seconds.
  test('a client that says nothing does not keep it', async () => {
    const host = new HostProcess(['--port=0', '--drain=0s', '--invite', CODE]);
    const socket = net.connect({ port: await host.port(), host: '127.0.0.1' });
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.on('error', () => {});
    socket.write('GET /room/0?players=1 HTTP/1.1\r\nHost: a\r\n' +
                 'Upgrade: websocket\r\nConnection: Upgrade\r\n' +
                 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
                 'Sec-WebSocket-Version: 13\r\n' +
                 `Sec-WebSocket-Protocol: fizlet-rooms, invite.${CODE}\r\n\r\n`);
    assert.match(String(await answered), /^HTTP\/1\.1 101 /);
    const from = performance.now();
    host.signal('SIGTERM');
    assert.equal(await host.ended, 0);
    assert.ok(performance.now() - from < 10_000 + SOON_MS);
    socket.destroy();
  });
});
