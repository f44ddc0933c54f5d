// The command line of bench/compare.
'use strict';

const path = require('node:path');
const { parseArgs } = require('node:util');
const { SERVERS } = require('./servers.js');
const { QUICK_SCENARIOS, chosen, fullScenarios } = require('./scenarios.js');

const ROUNDS_MAX = 100;
const SECONDS_MAX = 600;

// What the user got wrong, in words.
class Refused extends Error {}

const DECLARED = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  servers: { type: 'string' },
  cpus: { type: 'string' },
  out: { type: 'string' },
  bin: { type: 'string' },
  check: { type: 'boolean', default: false },
};

function parsed(args) {
  try {
    return parseArgs({ args, options: DECLARED }).values;
  } catch (error) {
    throw new Refused(error.message.split('. ')[0]);
  }
}

function whole(values, name, least, most, otherwise) {
  const text = values[name];
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most) {
    throw new Refused(`--${name}: '${text}' is no whole number from ` +
                      `${least} to ${most}`);
  }
  return number;
}

function scenariosOf(values, descriptors) {
  const all = values.quick ? QUICK_SCENARIOS : fullScenarios(descriptors);
  if (values.only === undefined) return all;
  const picked = chosen(all, values.only.split(','));
  if (picked) return picked;
  throw new Refused(`--only: '${values.only}' names a scenario that there is ` +
                    `not; there are ${all.map(({ name }) => name).join(', ')}`);
}

function serversOf(values) {
  if (values.servers === undefined) return SERVERS;
  const names = values.servers.split(',');
  for (const name of names) {
    if (SERVERS.some((server) => server.name === name)) continue;
    throw new Refused(
      `--servers: there is no '${name}'; there are ` +
      SERVERS.map((server) => server.name).join(', '));
  }
  return SERVERS.filter(({ name }) => names.includes(name));
}

// The processors of the server and of the generator.
function cpusOf(values) {
  if (values.cpus === undefined) return null;
  const match = /^(\d{1,4}),(\d{1,4})$/.exec(values.cpus);
  if (!match) {
    throw new Refused(`--cpus: '${values.cpus}' is not two numbers as in 0,1`);
  }
  return { server: Number(match[1]), generator: Number(match[2]) };
}

// `args`: the command line's; `descriptors`: how many a process may have;
// `root`: the tree's folder. Throws Refused.
function readOptions(args, descriptors, root) {
  const values = parsed(args);
  return {
    check: values.check,  // the options, and no more
    quick: values.quick,
    scenarios: scenariosOf(values, descriptors),
    servers: serversOf(values),
    // By name, someone relies on them being there.
    serversNamed: values.servers !== undefined,
    rounds: whole(values, 'rounds', 1, ROUNDS_MAX, values.quick ? 1 : 5),
    seconds: whole(values, 'seconds', 1, SECONDS_MAX, values.quick ? 1 : 5),
    cpus: cpusOf(values),
    out: path.resolve(values.out ?? path.join(root, 'build/compare')),
    bin: path.resolve(values.bin ?? path.join(root, 'build/release/bin')),
  };
}

module.exports = { Refused, readOptions };
