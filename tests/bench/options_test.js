// The command line of bench/compare: what it means, and what it refuses.
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { test } = require('node:test');
const { Refused, readOptions } = require('../../bench/comparison/options.js');

const ROOT = path.join(__dirname, '../..');
const DESCRIPTORS = 65_536;

const options = (...args) => readOptions(args, DESCRIPTORS, ROOT);
const names = (scenarios) => scenarios.map(({ name }) => name);

test('all of it by default', () => {
  const { scenarios, servers, rounds, out, bin } = options();
  for (const name of ['8x4x60', '64x8x60', '250x4x60', '16x16x240',
                      '1000x2x60']) {
    assert.ok(names(scenarios).includes(`${name}-spread`));
    assert.ok(names(scenarios).includes(`${name}-step`));
  }
  for (const name of ['16x8-closed', '2x2-round-trip', 'idle-2000',
                      'idle-20000', 'worst-pipes']) {
    assert.ok(names(scenarios).includes(name));
  }
  assert.equal(servers[0].name, 'limit_relay');
  assert.equal(rounds, 5);
  assert.equal(out, path.join(ROOT, 'build/compare'));
  assert.equal(bin, path.join(ROOT, 'build/release/bin'));
});

test('a quick run is one load and one round', () => {
  const { scenarios, servers, rounds } = options('--quick');
  assert.equal(scenarios.length, 1);
  assert.equal(rounds, 1);
  assert.equal(servers.length, options().servers.length);
});

test('some of it', () => {
  const { scenarios, servers, rounds, cpus } =
    options('--only', '64x8x60,idle-2000', '--servers',
            'parlor-host,limit_relay', '--rounds', '3', '--cpus', '2,3');
  assert.deepEqual(names(scenarios),
                   ['64x8x60-spread', '64x8x60-step', 'idle-2000']);
  assert.deepEqual(names(servers), ['limit_relay', 'parlor-host']);
  assert.equal(rounds, 3);
  assert.deepEqual(cpus, { server: 2, generator: 3 });
});

// Whole rooms of two, of what the system allows; and it is said.
test('as many idle connections as there may be descriptors', () => {
  const idle = (descriptors) =>
    readOptions(['--only', 'idle-20000'], descriptors, ROOT).scenarios[0];
  assert.ok(idle(DESCRIPTORS).options.includes(20_000));
  assert.doesNotMatch(idle(DESCRIPTORS).title, /wanted/);
  assert.ok(idle(20_001).options.includes(19_900));
  assert.match(idle(20_001).title, /19900 .*20000 were wanted/);
});

test('refuses in words', () => {
  for (const [args, words] of [
    [['--nonsense'], /--nonsense/],
    [['stray'], /stray/],
    [['--rounds', '0'], /--rounds: '0' is no whole number from 1 to 100/],
    [['--rounds', '1e1'], /--rounds: '1e1'/],
    [['--seconds', '601'], /--seconds: '601'.*1 to 600/],
    [['--only', '9x9'], /--only: '9x9'.*8x4x60-spread/],
    [['--quick', '--only', '64x8x60'], /--only: '64x8x60'.*4x4x60-spread/],
    [['--servers', 'nginx'], /there is no 'nginx'.*limit_relay/],
    [['--cpus', '1'], /--cpus: '1'/],
  ]) {
    assert.throws(() => options(...args), (error) =>
      error instanceof Refused && words.test(error.message), `${args}`);
  }
});

test('servers that are named have to be there', () => {
  const { status, stderr } = spawnSync(
    path.join(ROOT, 'bench/compare'),
    ['--bin', '/nonexistent', '--quick', '--servers', 'beast_relay'],
    { encoding: 'utf8' });
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^compare: .*beast_relay is not there \(needs libboost-dev\)\n$/);
});
