// The summary as Markdown.
'use strict';

const { summarize, summarizePipes } = require('./summary.js');

const NONE = '–';

const fixed = (digits) => (value) =>
  value === null ? NONE : value.toFixed(digits);
const grouped = (value) =>
  value === null ? NONE
                 : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');

// With least and most when there were rounds to differ.
function ratio(spread) {
  if (spread === null) return NONE;
  const { median, least, most } = spread;
  const text = median.toFixed(2);
  if (least === most) return text;
  return `${text} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

const row = (cells) => `| ${cells.join(' | ')} |`;

function table(head, rows) {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

const remarks = (rows) => rows.flatMap(
  ({ server, remarks: found }) =>
    found.map((text) => `- ${server.title}: ${text}`));

const LOAD_HEAD = ['server', 'CPU µs a delivered message', '× limit',
                   'p50 of a message, µs', 'p99 of a message, µs', '× limit',
                   'p99 of a frame, µs', '× limit', 'delivered a second'];

function loadRow({ server, values, ratios }) {
  return [server.title,
          fixed(2)(values.cpu_us), ratio(ratios.cpu_us),
          grouped(values.message_p50_us),
          grouped(values.message_p99_us), ratio(ratios.message_p99_us),
          grouped(values.frame_p99_us), ratio(ratios.frame_p99_us),
          grouped(values.delivered_per_s)];
}

const IDLE_HEAD = ['server', 'bytes a connection', '× limit'];

function idleRow({ server, values, ratios }) {
  return [server.title, grouped(values.idle_bytes), ratio(ratios.idle_bytes)];
}

function pipes(scenario, results) {
  const { rows, remarks: found } = summarizePipes(scenario, results);
  const cells = rows.map(({ name, ns }) => [
    name.replace(/^.*?rooms:/, 'rooms:').replace(/\/iterations:\d+$/, ''),
    fixed(1)(ns.median), `${fixed(1)(ns.least)}–${fixed(1)(ns.most)}`]);
  return [table(['load', 'ns a delivered message', 'least–most'], cells),
          found.map((text) => `- ${text}`)];
}

function section({ scenario, rows }, results) {
  let body = null;
  let said = remarks(rows);
  if (scenario.kind === 'pipes') {
    [body, said] = pipes(scenario, results);
  } else if (scenario.kind === 'idle') {
    body = table(IDLE_HEAD, rows.map(idleRow));
  } else {
    body = table(LOAD_HEAD, rows.map(loadRow));
  }
  return [`## ${scenario.title}`, body, ...said.length > 0
    ? [said.join('\n')] : []].join('\n\n');
}

// How many seats of a room have their latencies measured, where that is not all
// of them: in words, by what room_load says.
function timedSeats(runs) {
  const some = new Set(
    runs.map(({ figures }) => figures)
      .filter((figures) => figures?.timed < figures?.seats)
      .map(({ timed }) => timed));
  if (some.size === 0) return [];
  return [`- latencies of an open loop are those of ${[...some].join(' or ')} ` +
          'of the seats of each room; every byte to every seat is checked'];
}

function head({ machine, cpus, rounds, seconds, command, missing, runs }) {
  const shared = cpus.server === cpus.generator;
  return [
    '# Servers beside the bare loop',
    [`- machine: ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}`,
     `- built by: ${machine.compiler}; Node.js ${machine.node}`,
     `- command: \`${command}\``,
     `- ${rounds} round${rounds === 1 ? '' : 's'} of ${seconds} s, the servers in turn; ` +
       (shared
         ? `server and generator share processor ${cpus.server}: no time ` +
           'below says anything'
         : `server on processor ${cpus.server}, generator on ` +
           `${cpus.generator}`),
     ...timedSeats(runs),
     ...missing.map((why) => `- left out: ${why}`)].join('\n'),
    'A figure is the median of the rounds; "× limit" is the median of the ' +
      'ratios to the bare\nepoll loop in the same round, least and most in ' +
      'brackets.',
  ].join('\n\n');
}

function toMarkdown(results) {
  return [head(results), ...summarize(results).map(
    (part) => section(part, results))].join('\n\n') + '\n';
}

module.exports = { toMarkdown };
