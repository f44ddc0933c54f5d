// Helpers of the tests against foreign peers: our programs, and sockets whose
// events can be waited for.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { after } = require('node:test');

// What anything waited for may take; nothing measures it.
const PATIENCE_MS = 20_000;

// Lists of what happened that can be waited for, in any order.
class Record {
  #entries = [];
  #waiting = new Set();
  #ended = null;

  add(entry) {
    this.#entries.push(entry);
    for (const look of [...this.#waiting]) look();
  }

  // Nothing more comes; who still waits is told `why`.
  end(why) {
    this.#ended = why;
    for (const look of [...this.#waiting]) look();
  }

  // The first entry that `matches` answers something true about: that answer.
  find(matches, what) {
    return new Promise((resolve, reject) => {
      let seen = 0;
      let timer = null;
      const done = (settle, value) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle(value);
      };
      const fail = (why) =>
        done(reject, new Error(`${why} before ${what}; what came: ` +
                               `${this.#entries.map(shortened).join(' | ')}`));
      const look = () => {
        for (; seen < this.#entries.length; ++seen) {
          const answer = matches(this.#entries[seen]);
          if (answer) return done(resolve, answer);
        }
        if (this.#ended !== null) fail(this.#ended);
      };
      this.#waiting.add(look);
      timer = setTimeout(() => fail('time ran out'), PATIENCE_MS);
      look();
    });
  }
}

const shortened = (entry) => String(entry).slice(0, 100);

// Those of a test that failed are ended as well, lest they hold the run up.
const programs = new Set();
after(() => Promise.all([...programs].map((program) => program.end())));

// One of our programs. It ends when its standard input does, or as its class
// has it; and with us, however we end. What it says on standard error is shown
// when it does not end well.
class Program {
  errors = '';
  #child;
  #exit;

  constructor(name, ...options) {
    programs.add(this);
    this.lines = new Record();
    const file = path.join(process.env.PARLOR_BIN, name);
    this.#child = spawn(
      'setpriv', ['--pdeathsig', 'KILL', '--', file, ...options.map(String)],
      { stdio: 'pipe' });
    this.#child.stderr.on('data', (data) => this.errors += data);
    createInterface({ input: this.#child.stdout })
      .on('line', (line) => this.lines.add(line));
    // One that is gone already does not read what it is told.
    this.#child.stdin.on('error', () => {});
    this.#exit = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code, signal) => {
        programs.delete(this);
        if (code !== 0) process.stderr.write(this.errors);
        this.lines.end(`${name} ended (${signal ?? code})`);
        resolve(signal ?? code);
      });
    });
  }

  // The match of the first line, already said or to come, that fits.
  line(pattern) {
    return this.lines.find((line) => pattern.exec(line), pattern);
  }

  tell(order) {
    this.#child.stdin.write(`${order}\n`);
  }

  kill(signal) {
    this.#child.kill(signal);
  }

  // Its exit code, or the signal that ended it, once it is over.
  get exit() {
    return this.#exit;
  }

  // Ends it; its exit code.
  end() {
    this.#child.stdin.end();
    return this.#exit;
  }
}

// Our server.
class Host extends Program {
  constructor(...options) {
    super('echo_host', ...options);
  }

  async port() {
    return Number((await this.line(/^listening on (\d+)$/))[1]);
  }

  // The id of the connection that asked for `target`.
  async opened(target) {
    return Number((await this.line(new RegExp(`^open (\\d+) ${target} `)))[1]);
  }

  async closed(id) {
    return closeOf(await this.line(new RegExp(`^close ${id} ${CLOSE}`)));
  }
}

// Our client.
class Client extends Program {
  constructor(url, ...options) {
    super('echo_client', url, ...options);
  }

  send(data, lane = 'reliable') {
    const kind = typeof data === 'string' ? 'text' : 'binary';
    this.tell(`send ${lane} ${kind} ${Buffer.from(data).toString('hex')}`);
  }

  close(code, reason = '') {
    this.tell(`close ${code} ${reason}`);
  }

  async closed() {
    return closeOf(await this.line(new RegExp(`^${CLOSE}`)));
  }
}

const CLOSE = 'close (\\d+) (us|peer) (\\d+) ([0-9a-f]*)$';
const closeOf = ([, code, by, refusal, reason]) => ({
  code: Number(code),
  byUs: by === 'us',
  refusal: Number(refusal),
  reason: Buffer.from(reason, 'hex').toString(),
});

// A `ws` socket, of either side, and what happened to it.
class Peer {
  #messages = [];
  #wanted = [];

  constructor(socket) {
    this.socket = socket;
    this.events = new Record();
    socket.on('message', (data, isBinary) => {
      const message = isBinary ? data : data.toString();
      const next = this.#wanted.shift();
      if (next) next(message);
      else this.#messages.push(message);
    });
    for (const name of ['open', 'error', 'ping', 'pong', 'close']) {
      socket.on(name, (...values) => this.events.add([name, ...values]));
    }
    socket.on('unexpected-response', (request, response) => {
      this.events.add(['refused', response.statusCode, response.headers]);
      request.destroy();
    });
  }

  // The values of the first event of that name.
  event(name) {
    return this.events.find(
      ([had, ...values]) => had === name && values, name);
  }

  // The next message: a string or a Buffer.
  message() {
    if (this.#messages.length > 0) {
      return Promise.resolve(this.#messages.shift());
    }
    return new Promise((resolve, reject) => {
      this.#wanted.push(resolve);
      this.event('close').then(
        ([code]) => reject(new Error(`closed ${code} before a message`)),
        reject);
    });
  }

  async closed() {
    const [code, reason] = await this.event('close');
    return { code, reason: reason.toString() };
  }
}

// Bytes in which a misplaced, missing or repeated piece shows.
function pattern(size) {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; ++i) bytes[i] = (i * 7 + (i >> 8) * 13) & 255;
  return bytes;
}

// Text of `size` bytes, not all of them ASCII.
function words(size) {
  const unit = 'grüße, 世界 😀 ';
  const bytes = Buffer.byteLength(unit);
  return unit.repeat(Math.floor(size / bytes)) + '.'.repeat(size % bytes);
}

// The codes that a close may carry.
const CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012,
               1013, 1014, 3000, 3999, 4000, 4001, 4999];

module.exports = { CODES, Client, Host, Peer, Program, Record, pattern, words };
