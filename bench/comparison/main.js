#!/usr/bin/env node
// What bench/compare runs once everything is built. Its usage is there.
'use strict';

const { mkdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { chooseCpus, describeMachine, descriptorLimit } =
  require('./machine.js');
const { WELL, measure, measurePipes } = require('./measure.js');
const { Refused, readOptions } = require('./options.js');
const { FORMAT, writeReport } = require('./report.js');
const { whyNot } = require('./servers.js');

const ROOT = path.join(__dirname, '../..');

const say = (words) => console.error(`compare: ${words}`);

// The servers that can be run, and why the others cannot. Throws Refused when
// one was asked for by name.
function available({ servers, serversNamed, bin }) {
  const missing = [];
  const there = servers.filter((server) => {
    const why = whyNot(server, bin);
    if (why) missing.push(`${server.title}: ${why}`);
    return !why;
  });
  if (serversNamed && missing.length > 0) throw new Refused(missing.join('; '));
  return { there, missing };
}

function briefly({ outcome, figures, why }) {
  if (outcome !== 'ok') return outcome + (why ? `: ${why.split('\n')[0]}` : '');
  return figures.server_cpu_us_per_delivered
    ? `${figures.server_cpu_us_per_delivered.toFixed(2)} µs a delivered message`
    : 'ok';
}

// All servers in turn, and then again: what the machine does meanwhile is in
// the figures of all of them.
async function runScenario(scenario, servers, options, runs) {
  for (let round = 1; round <= options.rounds; ++round) {
    const keep = (server, run) => {
      runs.push({ scenario: scenario.name, server, round, ...run });
      say(`${scenario.name} ${round}/${options.rounds} ${server}: ` +
          briefly(run));
    };
    if (scenario.kind === 'pipes') {
      keep('relay_bench', await measurePipes(scenario, options));
      continue;
    }
    for (const server of servers) {
      keep(server.name, await measure(server, scenario, options));
    }
  }
}

function emptyResults(options, servers, missing, args) {
  return {
    format: FORMAT,
    command: ['bench/compare', ...args].join(' '),
    machine: describeMachine(options.bin),
    cpus: options.cpus,
    rounds: options.rounds,
    seconds: options.seconds,
    servers: servers.map(({ name, title }) => ({ name, title })),
    missing,
    scenarios: options.scenarios.map(
      ({ name, title, kind }) => ({ name, title, kind })),
    runs: [],
  };
}

// Whether every run did what it should. Under the small load of a quick run all
// of it is to arrive.
const allWell = (runs, quick) => runs.every(({ outcome, figures }) =>
  WELL.includes(outcome) && !(quick && figures.lost > 0));

async function compare(args) {
  const options = readOptions(args, descriptorLimit(), ROOT);
  if (options.check) return 0;
  options.cpus ??= chooseCpus();
  options.warm = options.quick ? 0.2 : 1;
  const { there, missing } = available(options);
  for (const why of missing) say(`left out: ${why}`);
  const results = emptyResults(options, there, missing, args);
  mkdirSync(options.out, { recursive: true });
  for (const scenario of options.scenarios) {
    await runScenario(scenario, there, options, results.runs);
    // After each, so that one that is cut short leaves what it found.
    writeFileSync(path.join(options.out, 'results.json'),
                  `${JSON.stringify(results, null, 1)}\n`);
    writeReport(results, options.out);
  }
  say(`results.json, table.md and plot.svg are in ${options.out}`);
  return allWell(results.runs, options.quick) ? 0 : 1;
}

compare(process.argv.slice(2)).then(
  (code) => process.exitCode = code,
  (error) => {
    say(error instanceof Refused ? error.message : error.stack);
    process.exitCode = error instanceof Refused ? 2 : 1;
  });
