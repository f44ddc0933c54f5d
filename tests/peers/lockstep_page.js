// How a web page plays in a lockstep room: everything that it has to know of
// the host is in this file, and it needs nothing else. The messages are in
// core/lockstep/WIRE.md, whose section "How to play" this follows.
//
//   if (!(await signIn('https://play.example', code)).ok) return;  // refused
//   const peer = new LockstepPeer('wss://play.example/room/7?players=4', code,
//                                 game);
//   peer.onChange = draw;         // lobby, start, away, left, end
//   peer.start(3, mode);          // only from seat 0: begin once 3 are seated
//   peer.run(60);                 // 60 steps a second
//
// `game` is the simulation, the same on every peer for the same seed and
// inputs. Integers only: what Math.sin answers differs between machines.
//   begin({ seat, players, size, seed, mode, delay })
//   input(frame)            this player's word (32 bits) for a frame
//   step(frame, words, bots)  runs it; of the seats in `bots`, an array, the
//                           word is 0: they were left, and the game's bot plays
//   hash()                  of the state between two frames, 32 bits
'use strict';

const Kind = Object.freeze({ INPUT: 1, HASH: 2, WELCOME: 3, LEAVE: 4,
                             RESUME: 5, AWAY: 6, START: 7, LOBBY: 8 });

// 12 bytes, little-endian. `frame` is the seed in WELCOME; `value` is the input
// word, the hash, or the token.
function encode({ kind, slot = 0, players = 0, mode = 0, frame = 0,
                  value = 0 }) {
  const view = new DataView(new ArrayBuffer(12));
  view.setUint8(0, kind);
  view.setUint8(1, slot);
  view.setUint8(2, players);
  view.setUint8(3, mode);
  view.setUint32(4, frame, true);
  view.setUint32(8, value, true);
  return view.buffer;
}

function decode(buffer) {
  const view = new DataView(buffer);
  return { kind: view.getUint8(0), slot: view.getUint8(1),
           players: view.getUint8(2), mode: view.getUint8(3),
           frame: view.getUint32(4, true), value: view.getUint32(8, true) };
}

// Asks whether a code is good, before a socket is opened: a page never learns
// why a WebSocket was refused. A body of text makes it a request that needs no
// preflight. Answers { ok: true, players: <most seats of a room> }, { ok: false
// } or, asked too often, { ok: false, retryAfter: <seconds> }. Throws when the
// host cannot be reached, or when it does not want pages of this origin.
async function signIn(host, code) {
  const response = await fetch(`${host}/invite`,
                               { method: 'POST', body: code });
  if (response.status === 200 || response.status === 403) {
    return response.json();
  }
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after')) || 60;
    return { ok: false, retryAfter: seconds };
  }
  throw new Error(`the host answers ${response.status}`);
}

// These closes lose the link but not the seat: the room holds it for a while
// (20 s unless it was told otherwise). Any other close ends the match.
const DROPS = [1006, 1011, 1012, 1014];
const TRIES = 6;           // after 250 ms, 500 ms, ... 8 s: 15.75 s in all
const FIRST_WAIT_MS = 250;
const CONNECT_MS = 3000;   // for one try
const REPLAY = 64;         // the INPUTs of a seat that the room keeps
const RESEND_MS = 100;     // between two resends, or a storm of RESUMEs would
                           // take us over the room's message rate
const OWN_WORDS = 128;     // own inputs that are kept to be sent again
const AHEAD = 4096;        // frames that a seat may be ahead; an honest one is
                           // 2 * delay + 1

class LockstepPeer {
  state = 'connecting';  // lobby, playing, reconnecting, ended
  seat = -1;             // before the lobby
  seated = 0;            // in the lobby
  match = null;          // what game.begin was given
  frame = 0;             // runs next
  away = new Set();      // seats that are held; the own one too
  lost = new Set();      // seats that were left
  desync = -1;           // the first frame whose hashes differed
  end = null;            // { code, reason }, once it is over
  stalls = 0;            // steps that had to wait
  dropped = 0;           // messages of no use: repeated, or unknown
  resumes = 0;
  resends = 0;
  onChange = () => {};

  #url;
  #protocols;
  #game;
  #delay;
  #hashEvery;
  #size;         // of the room, as opened
  #socket = null;
  #forgotten = [];
  #timer = 0;    // of a try's end, or of the next try
  #clock = 0;    // of run()
  #tries = 0;
  #token = 0;
  #welcomed = false;  // on this socket
  #seats = [];
  // Own inputs by frame. Those below #saidEnd were asked from the game, those
  // below #sendNext are on their way.
  #words = new Uint32Array(OWN_WORDS);
  #saidEnd = 0;
  #sendNext = 0;
  #sentEnd = 0;       // below it, a send is a resend
  #resendWanted = false;
  #resendAt = 0;      // not before that
  #hashes = new Map();  // own, by frame
  #hashNext = 0;

  // The code rides in the subprotocols: a URL lands in logs. Every peer of a
  // match uses the same delay and hashEvery; `protocols` is for other access
  // than a code: [`pass.${pass}`, `device.${key}`].
  constructor(url, code, game, { delay = 2, hashEvery = 30,
                                 protocols = code ? [`invite.${code}`] : [],
                               } = {}) {
    this.#url = url;
    this.#protocols = ['fizlet-rooms', ...protocols];
    this.#game = game;
    this.#delay = delay;
    this.#hashEvery = hashEvery;
    this.#size = Number(new URL(url).searchParams.get('players'));
    this.#connect();
  }

  // The host's START: the match begins once so many are seated (0: now), with
  // those who are there. False unless this is seat 0 of a lobby.
  start(players, mode = 0) {
    if (this.state !== 'lobby' || this.seat !== 0) return false;
    this.#socket.send(encode({ kind: Kind.START, players, mode }));
    return true;
  }

  // Steps by a timer, since a hidden tab gets no animation frames. (It gets a
  // timer once a second, and everyone waits for it; a Worker goes on.) Steps
  // are due at absolute times, so that nothing drifts; of what a page missed
  // while it hung, only four steps are made up.
  run(rate) {
    const period = 1000 / rate;
    let due = performance.now();
    this.#clock = setInterval(() => {
      const now = performance.now();
      due = Math.max(due, now - 4 * period);
      for (; due <= now; due += period) this.step();
    }, period / 4);
  }

  // The seat is given up at once. Leaving the page does the same: a browser
  // closes its sockets with 1001.
  leave() {
    this.#finish(1000, 'you left');
  }

  // ---- The socket

  #connect() {
    const protocols = [...this.#protocols];
    if (this.#token !== 0) {
      protocols.push(`resume.${this.#token.toString(16)}`);
    }
    this.#welcomed = false;
    const socket = new WebSocket(this.#url, protocols);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.state !== 'connecting') return;  // a resume opens by its RESUME
      clearTimeout(this.#timer);
      this.#become('lobby');
    };
    socket.onmessage = ({ data }) => this.#onData(data);
    socket.onclose = ({ code, reason }) => this.#onClose(code, reason);
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#onClose(1006, ''), CONNECT_MS);
  }

  // No event of this socket comes any more. Whatever close a page sends, the
  // room takes for a leave: one that opened and was not answered in time stays
  // open, until the room closes it (4001, this seat resumed) or we are through.
  #forget() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (socket === null) return;
    this.#socket = null;
    socket.onopen = socket.onmessage = socket.onclose = null;
    if (socket.readyState === WebSocket.CONNECTING) socket.close();
    if (socket.readyState === WebSocket.OPEN) this.#forgotten.push(socket);
  }

  #onClose(code, reason) {
    this.#forget();
    const inMatch = this.state === 'playing' || this.state === 'reconnecting';
    if (!inMatch || !DROPS.includes(code)) {
      // 1006 for a first try: out of reach, or refused; signIn tells more.
      return this.#finish(code, reason);
    }
    if (this.state === 'playing') this.#tries = 0;
    this.away.add(this.seat);
    this.#become('reconnecting');
    if (this.#tries === TRIES) return this.#finish(code, 'did not come back');
    let wait = FIRST_WAIT_MS * 2 ** this.#tries++;
    // The host restarts: everyone lost it in the same moment, and is not to
    // come back in one.
    if (code === 1012) wait *= 1 + Math.random();
    this.#timer = setTimeout(() => this.#connect(), wait);
  }

  #finish(code, reason) {
    if (this.state === 'ended') return;
    this.#forget();
    for (const socket of this.#forgotten) socket.close(1000);
    clearInterval(this.#clock);
    if (this.state === 'reconnecting') {
      this.away.delete(this.seat);
      this.lost.add(this.seat);
    }
    this.end = { code, reason };
    this.#become('ended');
  }

  #become(state) {
    this.state = state;
    this.onChange(this);
  }

  // ---- What the room says

  #onData(data) {
    if (!(data instanceof ArrayBuffer) || data.byteLength !== 12) {
      return this.#finish(1002, 'that is no room');
    }
    const message = decode(data);
    if (this.state === 'lobby') return this.#onLobby(message);
    if (this.state === 'playing') return this.#onMatch(message);
    if (this.state === 'reconnecting') this.#onResume(message);
  }

  #onLobby({ kind, slot, players, mode, frame, value }) {
    if (kind === Kind.LOBBY) {
      this.seat = slot;  // it may change until WELCOME
      this.seated = mode;
      return this.onChange(this);
    }
    if (kind !== Kind.WELCOME) return ++this.dropped;
    if (slot >= players || players > this.#size || value === 0) {
      return this.#finish(1002, 'no such match can be');
    }
    this.seat = slot;
    this.#token = value;
    this.match = { seat: slot, players, size: this.#size, seed: frame, mode,
                   delay: this.#delay };
    // The frames before the first input are 0 for everyone.
    this.#saidEnd = this.#sendNext = this.#sentEnd = this.#delay;
    this.#seats = Array.from({ length: players }, () => ({
      inputs: Array(this.#delay).fill(0),  // of this.frame and the ones after
      skipped: false,  // one frame: nothing that comes after it will run
      joined: true,    // since the own RESUME an INPUT came that joins these
      beyond: 0,       // and until then, so many that do not
      hashes: new Map(),
      lastHash: -1,
    }));
    this.#game.begin(this.match);
    this.#become('playing');
    this.#takeHash();
  }

  // First the same WELCOME, then the own RESUME.
  #onResume({ kind, slot, frame, value }) {
    if (kind === Kind.WELCOME) {
      if (slot !== this.seat || frame !== this.match.seed ||
          value !== this.#token) {
        return this.#finish(1002, 'the host plays another match by now');
      }
      this.#welcomed = true;
    } else if (kind === Kind.RESUME && this.#welcomed && slot === this.seat) {
      this.#onOwnResume();
    }
  }

  #onOwnResume() {
    clearTimeout(this.#timer);
    ++this.resumes;
    this.away.delete(this.seat);
    for (const seat of this.#seats) {
      seat.joined = false;
      seat.beyond = 0;
    }
    this.#wantResend(0);
    // The hashes around the drop as well: that of frame 0 tells another build.
    const oldest = Math.max(0, this.frame - 2 * this.#delay - 2);
    this.#hashNext = Math.ceil(oldest / this.#hashEvery) * this.#hashEvery;
    this.#become('playing');
  }

  #onMatch(message) {
    const { kind, slot } = message;
    if (slot >= this.match.players || slot === this.seat) {
      return ++this.dropped;
    }
    if (kind === Kind.INPUT) return this.#onInput(message);
    if (kind === Kind.HASH) return this.#onHash(message);
    if (this.lost.has(slot)) {
      // A seat that resumed is told of those that left once more.
      if (kind !== Kind.LEAVE) ++this.dropped;
    } else if (kind === Kind.AWAY) {
      this.away.add(slot);
    } else if (kind === Kind.RESUME) {
      this.away.delete(slot);
      this.#wantResend(this.#resendAt);
    } else if (kind === Kind.LEAVE) {
      this.#onLeave(slot);
    } else {
      ++this.dropped;
    }
    if (this.state === 'playing') this.onChange(this);
  }

  // The first of a seat and frame counts. Frames of a seat rise, so only the
  // one that it says next is of use.
  #onInput({ slot, frame, value }) {
    const seat = this.#seats[slot];
    const next = this.frame + seat.inputs.length;
    if (frame !== next || seat.skipped || this.lost.has(slot)) {
      ++this.dropped;
      if (frame > next) return this.#onGap(slot, seat);
      if (frame < next) seat.joined = true;
      return;
    }
    seat.joined = true;
    if (seat.inputs.length === AHEAD) {
      return this.#finish(1000, `seat ${slot} ran too far ahead`);
    }
    seat.inputs.push(value);
  }

  // A frame is missing before this one. Either the seat never said it, and the
  // same is missing for everyone; or it was said while this peer was away, and
  // the room's replay did not reach back to it.
  #onGap(slot, seat) {
    if (seat.joined) {
      seat.skipped = true;
    } else if (++seat.beyond === REPLAY) {
      this.#finish(1000, `seat ${slot} played on too far while you were away`);
    }
  }

  // All INPUTs of a seat come before its LEAVE, to everyone: from the first
  // frame that it did not say, the same on every peer, its bot plays.
  #onLeave(slot) {
    const { inputs, skipped, joined } = this.#seats[slot];
    this.lost.add(slot);
    this.away.delete(slot);
    const spoke = this.frame + inputs.length > this.#delay;
    if (spoke && !skipped && !joined) {
      this.#finish(1000, `seat ${slot} left, and its last moves are unknown`);
    }
  }

  #onHash({ slot, frame, value }) {
    const seat = this.#seats[slot];
    // Nobody is further ahead who waited for our inputs.
    const newest = this.frame + this.#delay + 1;
    if (frame <= seat.lastHash || frame > newest ||
        frame % this.#hashEvery !== 0) {
      return ++this.dropped;
    }
    seat.lastHash = frame;
    if (frame > this.frame) {
      seat.hashes.set(frame, value);
    } else if (this.#hashes.has(frame)) {
      this.compare(slot, frame, this.#hashes.get(frame), value);
    }
  }

  // Each HASH of another seat, once, with the own one of that frame.
  compare(slot, frame, own, theirs) {
    if (own === theirs) return;
    if (frame === 0) {
      return this.#finish(
        1000, `seat ${slot} plays another build, or with other options`);
    }
    if (this.desync < 0 || frame < this.desync) this.desync = frame;
  }

  // ---- Steps

  // One fixed step: says the input that is due, and runs a frame if every
  // seat's input for it is here. Whether one ran.
  step() {
    if (this.state !== 'playing' && this.state !== 'reconnecting') return false;
    if (this.#saidEnd <= this.frame + this.#delay) {
      this.#words[this.#saidEnd % OWN_WORDS] = this.#game.input(this.#saidEnd);
      ++this.#saidEnd;
    }
    if (this.state === 'playing') this.#sendInputs();
    const waits = this.#seats.some(
      ({ inputs }, s) =>
        s !== this.seat && inputs.length === 0 && !this.lost.has(s));
    if (waits) {
      ++this.stalls;
      return false;
    }
    this.#runFrame();
    this.#takeHash();
    return true;
  }

  // What step sends, without a frame: for a game that stands at its last one,
  // whose inputs those who come back still ask for.
  flush() {
    if (this.state === 'playing') this.#sendInputs();
  }

  #runFrame() {
    const bots = [];
    const words = this.#seats.map(({ inputs }, s) => {
      if (s === this.seat) {
        return this.frame < this.#delay
          ? 0 : this.#words[this.frame % OWN_WORDS];
      }
      if (inputs.length > 0) return inputs.shift();
      bots.push(s);
      return 0;
    });
    this.#game.step(this.frame, words, bots);
    ++this.frame;
  }

  // That of frame f is of the state before f runs.
  #takeHash() {
    if (this.frame % this.#hashEvery !== 0) return;
    const own = this.#game.hash();
    this.#hashes.set(this.frame, own);
    this.#hashes.delete(this.frame - 4 * this.#hashEvery);
    if (this.state === 'playing') this.#sendHashes();
    this.#seats.forEach(({ hashes }, s) => {
      if (!hashes.has(this.frame)) return;
      this.compare(s, this.frame, own, hashes.get(this.frame));
      hashes.delete(this.frame);
    });
  }

  #wantResend(at) {
    this.#resendWanted = true;
    this.#resendAt = at;
  }

  // Nothing newer goes before what has to be said again: the room passes on
  // only frames that rise, and the older ones would be lost for good.
  #sendInputs() {
    const now = performance.now();
    if (this.#resendWanted && now >= this.#resendAt) {
      this.#resendWanted = false;
      this.#resendAt = now + RESEND_MS;
      // Another seat may lack the frame before the oldest that it can be at.
      this.#sendNext = Math.max(this.#delay, this.frame - this.#delay - 1);
    }
    this.#sendHashes();
    for (; this.#sendNext < this.#saidEnd; ++this.#sendNext) {
      this.#say(Kind.INPUT, this.#sendNext,
                this.#words[this.#sendNext % OWN_WORDS]);
      if (this.#sendNext < this.#sentEnd) ++this.resends;
      this.#sentEnd = Math.max(this.#sentEnd, this.#sendNext + 1);
    }
    this.#sendHashes();
  }

  // A hash goes behind the inputs that its state was made with: without them a
  // bot may play those frames to the others, and the hash is a false alarm.
  #sendHashes() {
    const end = Math.min(this.frame, this.#sendNext);
    for (; this.#hashNext <= end; this.#hashNext += this.#hashEvery) {
      const hash = this.#hashes.get(this.#hashNext);
      if (hash !== undefined) this.#say(Kind.HASH, this.#hashNext, hash);
    }
  }

  #say(kind, frame, value) {
    this.#socket.send(encode({ kind, slot: this.seat, frame, value }));
  }
}
