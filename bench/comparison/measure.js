// One run: a server on one processor, room_load on another.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { fileOf } = require('./servers.js');

const START_MS = 20_000;
const END_MS = 10_000;
// What a run may take beyond its seconds: thousands of joins, and a machine
// that others use.
const SPARE_MS = 60_000;
const WORDS_MAX = 2_000;  // of what a program says when it fails

// What room_load's exit codes say.
const OUTCOMES = ['ok', 'wrong', 'refused', 'saturated'];
// Those that are no fault of what a server sends. Only the first has figures of
// the server.
const WELL = ['ok', 'saturated', 'behind'];

// A program on one processor, that does not outlive us.
function start(cpu, file, options) {
  const child = spawn(
    'taskset',
    ['-c', cpu, 'setpriv', '--pdeathsig', 'KILL', '--', file,
     ...options].map(String),
    { stdio: ['ignore', 'pipe', 'pipe'] });
  const program = { child, pid: child.pid, errors: '' };
  child.stderr.on('data', (data) => {
    program.errors = (program.errors + data).slice(-WORDS_MAX);
  });
  program.exit = new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(signal ?? code));
  });
  return program;
}

function within(promise, ms, what) {
  let timer = null;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(what)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function startServer(server, bin, cpu) {
  const program = start(cpu, fileOf(server, bin), server.options);
  const address = new Promise((resolve) => {
    createInterface({ input: program.child.stdout }).on('line', (line) => {
      const match = /^listening on (?:http:\/\/)?(127\.0\.0\.1:\d+)$/.exec(line);
      if (match) resolve(match[1]);
    });
  });
  const ended = program.exit.then((exit) => {
    throw new Error(`${server.name} ended (${exit}): ${program.errors.trim()}`);
  });
  ended.catch(() => {});  // it does end, later
  try {
    program.address = await within(Promise.race([address, ended]), START_MS,
                                   `${server.name} does not say its port`);
  } catch (error) {
    program.child.kill('SIGKILL');
    throw error;
  }
  program.ended = ended;
  return program;
}

async function endServer(program) {
  program.child.kill('SIGTERM');
  await within(program.exit, END_MS, '').catch(() => {
    program.child.kill('SIGKILL');
    return program.exit;
  });
}

// The standard output and the exit of a program that ends by itself.
async function output(program, ms) {
  let text = '';
  program.child.stdout.on('data', (data) => text += data);
  try {
    const exit = await within(program.exit, ms, 'took too long');
    return { exit, text };
  } finally {
    program.child.kill('SIGKILL');
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// By room_load: how many, of how many, and the last frame that did come.
const NOT_COME = new RegExp('lost (\\d+) of the (\\d+) messages of seat \\d+, ' +
                            'the last that came is frame (-?\\d+)$');

// Whether all that room_load found is that the newest messages had not come by
// the end: a server that is too slow for the load, and lost none.
function isOnlyLate(errors) {
  const lines = errors.trim().split('\n').filter(
    (line) => !/^room_load: (SATURATED|and \d+ more of these)/.test(line));
  return lines.length > 0 && lines.every((line) => {
    const found = NOT_COME.exec(line);
    if (!found) return false;
    const [lost, sent, last] = found.slice(1).map(Number);
    return lost === sent - (last + 1);
  });
}

function outcomeOf(exit, figures, { kind }, errors) {
  if (!figures) return exit === 2 ? 'refused' : 'failed';
  const outcome = OUTCOMES[exit] ?? 'failed';
  if (outcome === 'wrong' && isOnlyLate(errors)) {
    return figures.generator?.saturated ? 'saturated' : 'behind';
  }
  if (outcome === 'ok' && kind === 'load' && !(figures.delivered > 0)) {
    return 'wrong';
  }
  return outcome;
}

// What room_load found, as a run of results.json.
async function load(program, scenario, { bin, cpus, seconds, warm }) {
  const generator = start(
    cpus.generator, path.join(bin, 'room_load'),
    ['--connect', program.address, ...scenario.options, '--seconds', seconds,
     '--warm-seconds', warm, '--server-pid', program.pid,
     '--cpu', cpus.generator, '--json']);
  const finished = output(generator, (seconds + warm) * 1000 + SPARE_MS);
  const { exit, text } =
    await Promise.race([finished, program.ended]).catch((error) => {
      generator.child.kill('SIGKILL');
      throw error;
    });
  const figures = parse(text);
  const outcome = outcomeOf(exit, figures, scenario, generator.errors);
  if (WELL.includes(outcome)) return { outcome, figures };
  const why = generator.errors.trim() || `room_load ended (${exit})`;
  return { outcome, figures, why };
}

// { outcome, figures or null, why }: `outcome` is "ok", "saturated" (the
// figures are the generator's), "behind" (the server could not keep up),
// "wrong", "refused" or "failed".
async function measure(server, scenario, options) {
  let program = null;
  try {
    program = await startServer(server, options.bin, options.cpus.server);
    return await load(program, scenario, options);
  } catch (error) {
    return { outcome: 'failed', figures: null, why: error.message };
  } finally {
    if (program) await endServer(program);
  }
}

// The rows of a Google Benchmark, by name; "failed" likewise.
async function measurePipes(scenario, { bin, cpus }) {
  try {
    const program = start(
      cpus.server, path.join(bin, 'relay_bench'),
      [`--benchmark_filter=${scenario.filter}`, '--benchmark_format=json']);
    const { exit, text } = await output(program, SPARE_MS * 5);
    const report = parse(text);
    if (exit !== 0 || !report) {
      throw new Error(`relay_bench ended (${exit}): ${program.errors.trim()}`);
    }
    const failed = report.benchmarks.find((row) => row.error_occurred);
    if (failed) throw new Error(`${failed.name}: ${failed.error_message}`);
    const figures = Object.fromEntries(
      report.benchmarks.map((row) => [row.name, row['ns/msg']]));
    return { outcome: 'ok', figures };
  } catch (error) {
    return { outcome: 'failed', figures: null, why: error.message };
  }
}

module.exports = { WELL, measure, measurePipes };
