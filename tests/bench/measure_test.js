// How bench/compare takes what its programs do: scripts stand for them, which
// print and end as each test has it.
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync, writeFileSync } =
  require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');

const COMPARE = path.join(__dirname, '../../bench/compare');

const folder = mkdtempSync(path.join(tmpdir(), 'compare_measure_'));
after(() => rmSync(folder, { recursive: true }));

const script = (name, text) =>
  writeFileSync(path.join(folder, name), `#!/bin/bash\n${text}\n`,
                { mode: 0o755 });
const serves = () => script(
  'limit_relay', 'echo "listening on 127.0.0.1:9"; exec sleep 60');
const loads = (figures, exit, words = '') => script(
  'room_load',
  `echo '${JSON.stringify(figures)}'; echo '${words}' >&2; exit ${exit}`);

// The exit code of a comparison of one server, and its only run.
function compare(...options) {
  const { status, stderr } = spawnSync(
    COMPARE, ['--bin', folder, '--out', folder, '--rounds', '1', '--servers',
              'limit_relay', ...options],
    { encoding: 'utf8' });
  const { runs } = JSON.parse(
    readFileSync(path.join(folder, 'results.json'), 'utf8'));
  assert.equal(runs.length, 1, stderr);
  return { status, run: runs[0],
           table: readFileSync(path.join(folder, 'table.md'), 'utf8') };
}

const FINE = { lost: 0, delivered: 100, delivered_per_s: 100,
               server_cpu_us_per_delivered: 1.5 };

for (const [what, figures, exit, status, outcome, why] of [
  ['a measurement', FINE, 0, 0, 'ok'],
  ['a saturated generator', FINE, 3, 0, 'saturated'],
  ['a wrong byte', FINE, 1, 1, 'wrong', /seat 1/],
  ['nothing delivered', { ...FINE, delivered: 0 }, 0, 1, 'wrong'],
  ['a refusal', null, 2, 1, 'refused', /seat 1/],
  ['a generator that crashes', null, 134, 1, 'failed', /seat 1/],
]) {
  test(what, () => {
    serves();
    loads(figures, exit, 'room 3, seat 1');
    const { status: got, run, table } = compare('--quick');
    assert.equal(got, status);
    assert.equal(run.outcome, outcome);
    if (why) assert.match(run.why, why);
    assert.equal(table.includes('| 1.50 |'), outcome === 'ok');
  });
}

// Frames 0 to 23 came, so that a loss of more is not of the newest alone.
for (const [what, lost, saturated, outcome, full] of [
  ['a server that cannot keep up', 456, false, 'behind', 0],
  ['the same under a saturated generator', 456, true, 'saturated', 0],
  ['a message lost in between', 457, false, 'wrong', 1],
]) {
  test(what, () => {
    serves();
    loads({ ...FINE, lost, generator: { saturated } }, 1,
          `room_load: room 0, seat 0: lost ${lost} of the 480 messages of ` +
          'seat 1, the last that came is frame 23\n' +
          'room_load: and 3 more of these');
    const quick = compare('--quick');
    assert.equal(quick.status, 1);
    assert.equal(quick.run.outcome, outcome);
    const { status, table } = compare('--only', '8x4x60-step');
    assert.equal(status, full);
    assert.ok(!table.includes('| 1.50 |'));
    if (outcome === 'behind') assert.match(table, /could not keep up in 1 of 1/);
  });
}

test('a server that does not start', () => {
  script('limit_relay', 'echo "no port" >&2; exit 1');
  const { status, run } = compare('--quick');
  assert.equal(status, 1);
  assert.equal(run.outcome, 'failed');
  assert.match(run.why, /limit_relay ended \(1\): no port/);
});

test('a server that ends under the load', () => {
  script('limit_relay', 'echo "listening on 127.0.0.1:9"; exec sleep 0.1');
  script('room_load', 'exec sleep 60');
  const { status, run } = compare('--quick');
  assert.equal(status, 1);
  assert.match(run.why, /limit_relay ended \(0\)/);
});

test('memory pipes', () => {
  const benchmarks = [{ name: 'relay/worst/rooms:2/seats:2/rate:60/iterations:9',
                        'ns/msg': 21.5 }];
  script('relay_bench', `echo '${JSON.stringify({ benchmarks })}'`);
  const { status, run, table } = compare('--only', 'worst-pipes');
  assert.equal(status, 0);
  assert.deepEqual(Object.values(run.figures), [21.5]);
  assert.ok(table.includes('| rooms:2/seats:2/rate:60 | 21.5 |'));

  benchmarks[0].error_occurred = true;
  benchmarks[0].error_message = 'one is missing';
  script('relay_bench', `echo '${JSON.stringify({ benchmarks })}'`);
  const failed = compare('--only', 'worst-pipes');
  assert.equal(failed.status, 1);
  assert.match(failed.run.why, /one is missing/);
});
