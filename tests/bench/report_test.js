// What bench/compare makes of its runs: the figures by hand, and the files as
// they were once looked at (golden/). After a change that means to change them:
// bench/comparison/report.js tests/bench/golden/results.json
'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync, writeFileSync } =
  require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { cpuList } = require('../../bench/comparison/machine.js');
const { median, summarize, summarizePipes } =
  require('../../bench/comparison/summary.js');

const GOLDEN = path.join(__dirname, 'golden');
const REPORT = path.join(__dirname, '../../bench/comparison/report.js');

const folder = mkdtempSync(path.join(tmpdir(), 'compare_report_'));
after(() => rmSync(folder, { recursive: true }));

const golden = () =>
  JSON.parse(readFileSync(path.join(GOLDEN, 'results.json'), 'utf8'));

function rowOf(results, scenario, server) {
  const { rows } = summarize(results).find(
    (part) => part.scenario.name === scenario);
  return rows.find((row) => row.server.name === server);
}

const report = (...args) =>
  spawnSync(REPORT, args, { encoding: 'utf8' });

test('the files are the golden ones, and the same again', () => {
  for (let time = 0; time < 2; ++time) {
    const { status, stderr } =
      report(path.join(GOLDEN, 'results.json'), folder);
    assert.equal(status, 0, stderr);
    for (const file of ['table.md', 'plot.svg']) {
      assert.equal(readFileSync(path.join(folder, file), 'utf8'),
                   readFileSync(path.join(GOLDEN, file), 'utf8'));
    }
  }
});

test('a median of rounds', () => {
  assert.equal(median([]), null);
  assert.equal(median([3, 10, 1]), 3);
  assert.equal(median([4, 1, 2, 100]), 3);
});

// CPU 2.2, 5 and 3.3 beside 2, 4 and 3: a ratio of the medians would be the
// same 1.1, of the means 1.17; in the rounds they are 1.1, 1.25 and 1.1.
test('a ratio is taken within a round', () => {
  const { values, ratios } =
    rowOf(golden(), '64x8x60-spread', 'parlor-host');
  assert.equal(values.cpu_us, 3.3);
  assert.ok(Math.abs(ratios.cpu_us.median - 1.1) < 1e-9);
  assert.equal(ratios.cpu_us.most, 1.25);

  const swapped = golden();
  swapped.runs.find((run) => run.server === 'limit_relay' && run.round === 1)
    .figures.server_cpu_us_per_delivered = 1;
  assert.ok(Math.abs(rowOf(swapped, '64x8x60-spread', 'parlor-host')
    .ratios.cpu_us.median - 1.25) < 1e-9);
});

test('what a saturated generator measured is not the server\'s', () => {
  const some = rowOf(golden(), '64x8x60-spread', 'node_relay');
  assert.equal(some.values.cpu_us, (4 + 7.5) / 2);
  assert.match(some.remarks.join(), /saturated in 1 of 3 rounds/);

  const all = rowOf(golden(), '16x8-closed', 'node_relay');
  assert.ok(Object.values(all.values).every((value) => value === null));
  assert.ok(Object.values(all.ratios).every((ratio) => ratio === null));
  assert.match(all.remarks.join(), /no figure of the server/);
});

test('without the limit\'s run there is no ratio', () => {
  const results = golden();
  for (const run of results.runs) {
    if (run.server === 'limit_relay') run.outcome = 'saturated';
  }
  const { values, ratios } = rowOf(results, '64x8x60-spread', 'parlor-host');
  assert.equal(values.cpu_us, 3.3);
  assert.equal(ratios.cpu_us, null);
});

test('lost messages are told, and their run is left out', () => {
  const { values, remarks } = rowOf(golden(), '16x8-closed', 'parlor-host');
  assert.equal(values.delivered_per_s, 290_001.5);
  assert.match(remarks.join(), /wrong in 1 of 3 rounds: .*7 messages lost/);
});

test('memory pipes', () => {
  const results = golden();
  const { rows } = summarizePipes({ name: 'worst-pipes' }, results);
  assert.deepEqual(rows.map(({ ns }) => ns.median), [22, 11]);
});

test('lists of processors', () => {
  assert.deepEqual(cpuList('0\n'), [0]);
  assert.deepEqual(cpuList('0,2-4,7'), [0, 2, 3, 4, 7]);
});

test('what is no results.json is refused in words', () => {
  const file = path.join(folder, 'other.json');
  for (const [text, words] of [['{"format": 2}', /format 1/],
                               ['no json', /other\.json/]]) {
    writeFileSync(file, text);
    const { status, stderr } = report(file);
    assert.equal(status, 2);
    assert.match(stderr, words);
  }
  assert.equal(report().status, 2);
  assert.equal(report(path.join(folder, 'nothing')).status, 2);
});
