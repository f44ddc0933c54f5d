#!/usr/bin/env node
// Writes table.md and plot.svg beside a results.json, or elsewhere. bench/compare
// calls it; by hand: bench/comparison/report.js results.json [folder]
'use strict';

const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { toSvg } = require('./plot.js');
const { toMarkdown } = require('./table.js');

const FORMAT = 1;  // of results.json

function writeReport(results, folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'table.md'), toMarkdown(results));
  writeFileSync(path.join(folder, 'plot.svg'), toSvg(results));
}

function main(args) {
  if (args.length < 1 || args.length > 2 || args[0].startsWith('-')) {
    console.error('Usage: bench/comparison/report.js results.json [folder]');
    return 2;
  }
  const [file, folder = path.dirname(file)] = args;
  let results = null;
  try {
    results = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    console.error(`report: ${file}: ${error.message}`);
    return 2;
  }
  if (results.format !== FORMAT) {
    console.error(`report: ${file}: is not of format ${FORMAT}`);
    return 2;
  }
  writeReport(results, folder);
  return 0;
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));

module.exports = { FORMAT, writeReport };
