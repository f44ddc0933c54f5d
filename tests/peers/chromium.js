// Chromium, and pages of ours that it visits.
'use strict';

const { accessSync, constants, readFileSync } = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { chromium } = require('playwright-core');

function findBrowser() {
  for (const folder of process.env.PATH.split(':')) {
    const file = path.join(folder, 'chromium');
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error('chromium is missing (.ci/packages)');
}

async function startBrowser() {
  const executablePath = findBrowser();
  try {
    return await chromium.launch({
      executablePath,
      timeout: 60_000,
      // Chromium's sandbox does not work for root, and shared memory is as
      // small as 64 MiB in many containers. It visits our own page only.
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
  } catch (error) {
    throw new Error(`${executablePath} does not start: ${error.message}`);
  }
}

// A server of one page, with these scripts of this folder; its `origin` is what
// a browser calls it.
async function servePage(...scripts) {
  const html = '<!doctype html><title>peers</title>' + scripts.map(
    (name) => `<script>${readFileSync(path.join(__dirname, name))}</script>`)
    .join('');
  const server = http.createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(html);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.origin = `http://127.0.0.1:${server.address().port}`;
  return server;
}

module.exports = { servePage, startBrowser };
