// The machine that figures are from, and its processors.
'use strict';

const { spawnSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// "0,2-4" is [0, 2, 3, 4].
function cpuList(text) {
  return text.trim().split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function allowedCpus() {
  const status = readFileSync('/proc/self/status', 'utf8');
  return cpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)[1]);
}

// The hardware threads of the core that `cpu` is one of.
function siblings(cpu) {
  try {
    return cpuList(readFileSync(
      `/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`,
      'utf8'));
  } catch {
    return [cpu];
  }
}

// One core for the server and another for the generator; on a machine that has
// only one, the same for both.
function chooseCpus() {
  const allowed = allowedCpus();
  const [server] = allowed;
  const core = siblings(server);
  const generator = allowed.find((cpu) => !core.includes(cpu)) ??
                    allowed.find((cpu) => cpu !== server) ?? server;
  return { server, generator };
}

// How many files a process of ours may open.
function descriptorLimit() {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)[1];
  return hard === 'unlimited' ? Infinity : Number(hard);
}

// Of the build that has the folder `bin`.
function compiler(bin) {
  try {
    const cache = readFileSync(path.join(bin, '../CMakeCache.txt'), 'utf8');
    const [, file] = /^CMAKE_CXX_COMPILER:\w+=(.*)$/m.exec(cache);
    const [, type] = /^CMAKE_BUILD_TYPE:\w+=(.*)$/m.exec(cache);
    const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
    return `${stdout.split('\n')[0]}, ${type}`;
  } catch {
    return 'unknown';
  }
}

function describeMachine(bin) {
  return {
    cpu: os.cpus()[0].model.trim(),
    cores: os.cpus().length,
    kernel: `${os.type()} ${os.release()}`,
    compiler: compiler(bin),
    node: process.version,
  };
}

module.exports = { chooseCpus, cpuList, describeMachine, descriptorLimit };
