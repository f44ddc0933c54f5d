// Two tabs of Chromium and a peer in C++ in one room of parlor-host: what the
// page's own script (lockstep_page.js) plays is what the library plays.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { servePage, startBrowser } = require('./chromium.js');
const { ParlorHost, Proxy, ToyPeer } = require('./host.js');

const CODE = 'OPEN-SESAME-1';
const FRAMES = 600;

let pages;      // whose origin the host knows
let strangers;  // whose it does not
let host;
let address;    // of the host
let browser;
let rooms = 0;

before(async () => {
  const scripts = ['lockstep_page.js', 'toy_game.js', 'watched_peer.js'];
  pages = await servePage(...scripts);
  strangers = await servePage(...scripts);
  host = new ParlorHost({}, '--invite', CODE, '--origin', pages.origin);
  address = await host.address();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  pages?.close();
  strangers?.close();
  if (host) assert.equal(await host.end(), 0);
});

async function openTab(origin = pages.origin) {
  const tab = await browser.newPage();
  tab.setDefaultTimeout(60_000);
  await tab.goto(origin);
  return tab;
}

// A room of a test's own, and the ways into it.
class Room {
  #number = ++rooms;

  constructor(players) {
    this.players = players;
  }

  // A tab whose `peer` waits in the lobby, or plays already.
  async join(from = address) {
    const tab = await openTab();
    await tab.evaluate(async ([url, code, frames]) => {
      globalThis.peer = new WatchedPeer(url, code, frames);
      await peer.until(() => peer.seat >= 0);
    }, [`ws://${from}/room/${this.#number}?players=${this.players}`, CODE,
        FRAMES]);
    return tab;
  }

  joinNatively() {
    return new ToyPeer(`ws://${address}`, '--room', this.#number, '--players',
                       this.players, '--access', `invite.${CODE}`,
                       '--frames', FRAMES);
  }
}

// What a tab's peer saw, when it has run all frames and heard the last HASH of
// the others that are there.
const played = (tab) => tab.evaluate(async (frames) => {
  await peer.until(
    () => peer.frame === frames &&
          peer.heard(frames) === peer.match.players - 1 - peer.lost.size);
  const { match, compared, desync, resumes, resends, stalls } = peer;
  return { match, compared, desync, resumes, resends, stalls,
           states: peer.game.states, firstBotFrame: peer.game.firstBotFrame,
           held: [...peer.held] };
}, FRAMES);

// The HASHes of the others, each with the own one of its frame.
function agreed({ compared }) {
  for (const { own, theirs } of compared) assert.equal(theirs, own);
  return compared.map(({ slot, frame }) => `${slot}:${frame}`).sort();
}

function expectedHashes(others) {
  const all = [];
  for (const slot of others) {
    for (let frame = 0; frame <= FRAMES; frame += 30) {
      all.push(`${slot}:${frame}`);
    }
  }
  return all.sort();
}

async function leave(native, ...tabs) {
  for (const tab of tabs) {
    await tab.evaluate(() => peer.leave());
    await tab.close();
  }
  native.tell('leave');
  await native.line(/^end 1 1000 0$/);
  assert.equal(await native.end(), 0);
}

describe('Chromium: a lockstep match', { concurrency: true }, () => {
  test('two tabs and a peer in C++ play the same', async () => {
    const room = new Room(4);
    const first = await room.join();
    assert.equal(await first.evaluate(() => peer.start(3, 77)), true);
    const second = await room.join();
    const native = room.joinNatively();

    const [one, two] = await Promise.all([played(first), played(second)]);
    const [, desync] = await native.line(/^played (\S+) \d+ 0$/);
    assert.equal(desync, '-1');
    const { seed } = one.match;
    const common = { players: 3, size: 4, seed, mode: 77, delay: 2 };
    assert.deepEqual(one.match, { seat: 0, ...common });
    assert.deepEqual(two.match, { seat: 1, ...common });
    await native.line(new RegExp(`^match 2 3 ${seed} 77$`));

    const states = await native.states(FRAMES);
    assert.deepEqual(one.states, states);
    assert.deepEqual(two.states, states);
    assert.deepEqual(agreed(one), expectedHashes([1, 2]));
    assert.deepEqual(agreed(two), expectedHashes([0, 2]));
    for (const { desync, resumes, resends } of [one, two]) {
      assert.deepEqual([desync, resumes, resends], [-1, 0, 0]);
    }
    await leave(native, first, second);
  });

  test('a tab that is cut off comes back, and they play the same', async () => {
    const room = new Room(3);
    const proxy = await Proxy.to(address);
    const native = room.joinNatively();
    await native.line(/^lobby 0 1$/);
    const steady = await room.join();
    const shaky = await room.join(proxy.address);

    // Cut off in the middle, with messages lost both ways, and the first of its
    // tries too.
    await shaky.evaluate(() => peer.until(() => peer.frame > 200));
    proxy.hold();
    await shaky.evaluate(() => {
      const before = peer.stalls;
      return peer.until(() => peer.stalls > before + 10);
    });
    proxy.refuse = 1;
    proxy.cut();

    const [one, two] = await Promise.all([played(steady), played(shaky)]);
    const [, desync, resends] = await native.line(/^played (\S+) \d+ (\d+)$/);
    assert.equal(desync, '-1');
    const states = await native.states(FRAMES);
    assert.deepEqual(one.states, states);
    assert.deepEqual(two.states, states);
    assert.deepEqual([one.desync, two.desync], [-1, -1]);

    // Nobody sends a HASH again that a lost link took with it.
    assert.deepEqual(agreed(one), expectedHashes([0, 2]));
    assert.ok(agreed(two).length > 2 * FRAMES / 30 - 4);
    assert.deepEqual([one.resumes, two.resumes], [0, 1]);
    assert.equal(proxy.accepted, 3);
    for (const count of [resends, one.resends, two.resends]) {
      assert.ok(count > 0);
    }
    await native.line(/^away 4$/);
    await native.line(/^away 0$/);
    assert.deepEqual(one.held, [2]);
    assert.deepEqual(two.held, [2]);
    await leave(native, steady, shaky);
    proxy.close();
  });

  test('a bot takes the seat of a tab that is closed', async () => {
    const room = new Room(3);
    const native = room.joinNatively();
    await native.line(/^lobby 0 1$/);
    const staying = await room.join();
    const leaving = await room.join();
    await leaving.evaluate(() => peer.until(() => peer.frame > 200));
    await leaving.close();

    const one = await played(staying);
    await native.line(/^played -1 \d+ 0$/);
    assert.deepEqual(one.states, await native.states(FRAMES));
    assert.equal(one.desync, -1);
    assert.ok(one.firstBotFrame > 200 && one.firstBotFrame < FRAMES);
    await native.line(/^lost 4$/);
    await leave(native, staying);
  });
});

describe('Chromium: the way in', () => {
  // The sign-in check and a join, from a page of `origin`; an answer, or why
  // there is none.
  async function tryCode(origin, code) {
    const tab = await openTab(origin);
    const answers = await tab.evaluate(async ([address, room, code]) => {
      const checked = await signIn(`http://${address}`, code)
        .catch((error) => error.name);
      const peer = new LockstepPeer(`ws://${address}/room/${room}?players=2`,
                                    code, new ToyGame());
      const joined = await new Promise((resolve) => {
        peer.onChange = () => {
          if (peer.state === 'ended') resolve(peer.end.code);
          if (peer.seat >= 0) resolve(peer.seat);
        };
      });
      peer.leave();
      return { checked, joined };
    }, [address, ++rooms, code]);
    await tab.close();
    return answers;
  }

  test('a code that is good, in any case', async () => {
    for (const code of [CODE, CODE.toLowerCase()]) {
      assert.deepEqual(await tryCode(pages.origin, code),
                       { checked: { ok: true, players: 8 }, joined: 0 });
    }
  });

  test('a code that is not', async () => {
    for (const code of ['OPEN-SESAME-2', 'short']) {
      assert.deepEqual(await tryCode(pages.origin, code),
                       { checked: { ok: false }, joined: 1006 });
    }
  });

  // Its script is not told what the host answers.
  test('a page of another origin', async () => {
    assert.deepEqual(await tryCode(strangers.origin, CODE),
                     { checked: 'TypeError', joined: 1006 });
  });
});
