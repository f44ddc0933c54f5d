// Chromium as a client of our server: what a page sees, and what we see of it.
'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { servePage, startBrowser } = require('./chromium.js');
const { Host, words } = require('./peers.js');

const MIB = 1024 * 1024;
const REASON = `${'ß'.repeat(61)}.`;

let host;
let browser;
let pages;  // the server of the page
let page;
let url;  // of the host
let last = 0;

before(async () => {
  host = new Host('--message-bytes', MIB, '--reliable-bytes', 2 * MIB,
                  '--protocol', 'parlor.a', '--protocol', 'parlor.b');
  url = `ws://127.0.0.1:${await host.port()}`;
  pages = await servePage('chromium_page.js');
  browser = await startBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(pages.origin);
});

after(async () => {
  await browser?.close();
  pages?.close();
  assert.equal(await host.end(), 0);
});

// An address of our server that nobody had before.
const fresh = () => `/${++last}`;

describe('Chromium: messages', () => {
  test('text and binary of every length form come back', async () => {
    const all = await page.evaluate(async ([url, texts]) => {
      const link = await new PageSocket(url).opened;
      const good = [];
      for (const size of [0, 1, 125, 126, 127, 65535, 65536, 1024 * 1024]) {
        good.push(await echoes(link, size));
      }
      for (const text of texts) good.push(await echoes(link, text));
      link.socket.close(1000);
      await link.closed;
      return good;
    }, [url, [0, 125, 126, 65535, 65536, MIB].map(words)]);
    assert.deepEqual(all, Array(14).fill(true));
  });

  test('sockets side by side do not mix', async () => {
    const all = await page.evaluate((url) => Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const link = await new PageSocket(url).opened;
        let good = true;
        for (let j = 0; j < 20; ++j) {
          good = await echoes(link, `socket ${i} message ${j}`) && good;
        }
        link.socket.close(1000);
        return good && (await link.closed).wasClean;
      })), url);
    assert.deepEqual(all, Array(16).fill(true));
  });

  test('the state lane is a message like any other', async () => {
    assert.equal(await page.evaluate(async (url) => {
      const link = await new PageSocket(url).opened;
      link.socket.send('do state as it is');
      const got = await link.message();
      link.socket.close();
      return got;
    }, url), 'as it is');
  });

  test('a message above the limit closes 1009', async () => {
    const closed = await page.evaluate(async (url) => {
      const link = await new PageSocket(url).opened;
      link.socket.send(new Uint8Array(1024 * 1024 + 1));
      return link.closed;
    }, url);
    assert.equal(closed.code, 1009);
    assert.equal(closed.wasClean, true);
  });
});

// Opens a socket at `target`, sends the orders and tells how it was closed.
const closeAfter = (target, ...orders) =>
  page.evaluate(async ([url, orders]) => {
    const link = await new PageSocket(url).opened;
    for (const order of orders) link.socket.send(order);
    return link.closed;
  }, [url + target, orders]);

describe('Chromium: closes', () => {
  for (const code of [1000, 1001, 1008, 1011, 1012, 1013, 4000, 4001, 4999]) {
    test(`${code} by us, with its reason`, async () => {
      const target = fresh();
      assert.deepEqual(
        await closeAfter(target, `do close ${code} ${REASON}`),
        { code, reason: REASON, wasClean: true, errors: 0 });
      assert.deepEqual(await host.closed(await host.opened(target)),
                       { code, byUs: true, refusal: 0, reason: REASON });
    });
  }

  // The codes that a page may choose.
  for (const code of [1000, 3000, 4000, 4999]) {
    test(`${code} by the page, with its reason`, async () => {
      const target = fresh();
      const closed = await page.evaluate(async ([url, code, reason]) => {
        const link = await new PageSocket(url).opened;
        link.socket.close(code, reason);
        return link.closed;
      }, [url + target, code, REASON]);
      assert.equal(closed.code, code);
      assert.equal(closed.wasClean, true);
      assert.deepEqual(await host.closed(await host.opened(target)),
                       { code, byUs: false, refusal: 0, reason: REASON });
    });
  }

  test('without a code by the page', async () => {
    const target = fresh();
    const closed = await page.evaluate(async (url) => {
      const link = await new PageSocket(url).opened;
      link.socket.close();
      return link.closed;
    }, url + target);
    assert.equal(closed.code, 1005);
    assert.equal(closed.wasClean, true);
    assert.equal((await host.closed(await host.opened(target))).code, 1005);
  });

  test('by us while the page floods', async () => {
    const target = fresh();
    const closed = await page.evaluate(async (url) => {
      const link = await new PageSocket(url).opened;
      const bytes = new Uint8Array(65536);
      for (let i = 0; i < 200; ++i) {
        if (i === 16) link.socket.send('do close 1012 restart');
        link.socket.send(bytes);
      }
      const { code, reason, errors } = await link.closed;
      // Not wasClean: Chromium calls no close clean that finds bytes of the
      // page unsent.
      return { code, reason, errors };
    }, url + target);
    assert.deepEqual(closed, { code: 1012, reason: 'restart', errors: 0 });
    assert.equal((await host.closed(await host.opened(target))).code, 1012);
  });

  test('a lane over its limit', async () => {
    assert.deepEqual(
      await closeAfter(fresh(), `do flood 3 ${MIB}`),
      { code: 1011, reason: 'too slow', wasClean: true, errors: 0 });
  });

  test('we abort', async () => {
    const closed = await closeAfter(fresh(), 'do abort');
    assert.equal(closed.code, 1006);
    assert.equal(closed.wasClean, false);
  });

  test('a page that reloads, and one that is closed, go away', async () => {
    const own = await browser.newPage();
    await own.goto(pages.origin);
    for (const leave of [() => own.reload(), () => own.close()]) {
      const target = fresh();
      await own.evaluate(async (url) => {
        globalThis.link = await new PageSocket(url).opened;
      }, url + target);
      const id = await host.opened(target);
      await leave();
      const { code, byUs } = await host.closed(id);
      assert.deepEqual({ code, byUs }, { code: 1001, byUs: false });
    }
  });
});

describe('Chromium: the handshake', () => {
  test('the first subprotocol that we speak', async () => {
    const target = fresh();
    const chosen = await page.evaluate(async (url) => {
      const link = await new PageSocket(
        url, ['other', 'parlor.b', 'parlor.a']).opened;
      const { protocol, extensions } = link.socket;
      link.socket.close();
      return { protocol, extensions };
    }, url + target);
    assert.deepEqual(chosen, { protocol: 'parlor.b', extensions: '' });
    await host.line(
      new RegExp(`^open \\d+ ${target} parlor\\.b ${pages.origin}$`));
  });

  for (const where of ['/refuse/403', '/refuse/409', '/refuse/429']) {
    test(`${where} is an error and 1006`, async () => {
      assert.deepEqual(
        await page.evaluate((url) => new PageSocket(url).closed, url + where),
        { code: 1006, reason: '', wasClean: false, errors: 1 });
    });
  }

  test('a subprotocol that we do not speak is an error', async () => {
    const closed = await page.evaluate(
      (url) => new PageSocket(url, ['other']).closed, url + fresh());
    assert.equal(closed.code, 1006);
    assert.equal(closed.errors, 1);
  });

  test('over TLS, once the certificate is trusted', async () => {
    const safe = new Host('--tls');
    const safeUrl = `wss://127.0.0.1:${await safe.port()}/tls`;
    const stranger = await page.evaluate(
      (url) => new PageSocket(url).closed, safeUrl);
    assert.equal(stranger.code, 1006);

    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const own = await context.newPage();
    await own.goto(pages.origin);
    const [good, closed] = await own.evaluate(async (url) => {
      const link = await new PageSocket(url).opened;
      const good = await echoes(link, 65536);
      link.socket.send('do close 1012 restart');
      return [good, await link.closed];
    }, safeUrl);
    assert.equal(good, true);
    assert.deepEqual(closed, { code: 1012, reason: 'restart', wasClean: true,
                               errors: 0 });
    await context.close();
    assert.equal(await safe.end(), 0);
  });
});
