// From the runs of results.json to the figures that are shown: of each scenario
// and server the median of its rounds, and the median of its ratios to the
// limit, each taken within one round.
'use strict';

const { LIMIT } = require('./servers.js');

// What is shown of a run, by what room_load says.
const METRICS = {
  cpu_us: (figures) => figures.server_cpu_us_per_delivered,
  message_p50_us: (figures) => figures.message_us?.p50,
  message_p99_us: (figures) => figures.message_us?.p99,
  frame_p99_us: (figures) => figures.frame_us?.p99,
  delivered_per_s: (figures) => figures.delivered_per_s,
  idle_bytes: (figures) => figures.idle?.rss_bytes_per_connection,
};

function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function spreadOf(values) {
  return { median: median(values), least: Math.min(...values),
           most: Math.max(...values) };
}

// Only these say something of the server.
const good = (runs) => runs.filter(({ outcome }) => outcome === 'ok');

const valueOf = (run, metric) => METRICS[metric](run.figures) ?? null;

function ratios(runs, limits, metric) {
  const found = [];
  for (const run of runs) {
    const limit = limits.find(({ round }) => round === run.round);
    const value = valueOf(run, metric);
    const base = limit ? valueOf(limit, metric) : null;
    if (value !== null && base > 0) found.push(value / base);
  }
  return found;
}

// What went wrong in the runs of a server, in words; empty when nothing did.
function remarksOf(runs) {
  const count = (outcome) =>
    runs.filter((run) => run.outcome === outcome).length;
  const remarks = [];
  const saturated = count('saturated');
  if (saturated > 0) {
    remarks.push(saturated === runs.length
      ? 'generator saturated: no figure of the server'
      : `generator saturated in ${saturated} of ${runs.length} rounds, ` +
        'which are left out');
  }
  const behind = count('behind');
  if (behind > 0) {
    remarks.push(`could not keep up in ${behind} of ${runs.length} rounds, ` +
                 'which are left out');
  }
  const others = runs.length - saturated - behind - count('ok');
  if (others > 0) {
    const { outcome, why } = runs.find(
      (run) => !['ok', 'saturated', 'behind'].includes(run.outcome));
    remarks.push(`${outcome} in ${others} of ${runs.length} rounds` +
                 (why ? `: ${why.split('\n')[0]}` : ''));
  }
  return remarks;
}

function summaryOf(runs, limits) {
  const fine = good(runs);
  const values = {};
  const relative = {};
  for (const metric of Object.keys(METRICS)) {
    values[metric] = median(
      fine.map((run) => valueOf(run, metric)).filter((value) => value !== null));
    const found = ratios(fine, limits, metric);
    relative[metric] = found.length > 0 ? spreadOf(found) : null;
  }
  return { values, ratios: relative, remarks: remarksOf(runs) };
}

// [{ scenario, rows: [{ server, values, ratios, remarks }] }], in the order of
// results.json.
function summarize(results) {
  return results.scenarios.map((scenario) => {
    const ofServer = (name) => results.runs.filter(
      (run) => run.scenario === scenario.name && run.server === name);
    const limits = good(ofServer(LIMIT));
    const rows = results.servers
      .map((server) => ({ server, runs: ofServer(server.name) }))
      .filter(({ runs }) => runs.length > 0)
      .map(({ server, runs }) => ({ server, ...summaryOf(runs, limits) }));
    return { scenario, rows };
  });
}

// [{ name, ns }] and the remarks, of the runs over memory pipes.
function summarizePipes(scenario, results) {
  const runs = results.runs.filter((run) => run.scenario === scenario.name);
  const fine = good(runs);
  const names = fine.length > 0 ? Object.keys(fine[0].figures) : [];
  return {
    rows: names.map((name) => ({
      name, ns: spreadOf(fine.map(({ figures }) => figures[name])) })),
    remarks: remarksOf(runs),
  };
}

module.exports = { median, summarize, summarizePipes };
