// Helpers of the tests that play through the host: parlor-host, a peer in C++,
// and a proxy that cuts.
'use strict';

const net = require('node:net');
const { Program } = require('./peers.js');

// `parlor-host` on a port of its own. Everyone here has one address, so that it
// has to bear more joins a minute than it does by default.
class ParlorHost extends Program {
  constructor({ drain = '0s', joinRate = 10_000 }, ...options) {
    super('parlor-host', '--port', 0, '--drain', drain,
          '--join-rate', joinRate, '--room-join-rate', joinRate, ...options);
  }

  async address() {
    return (await this.line(/^listening on http:\/\/(\S+)$/))[1];
  }

  // Drains, as it was told.
  end() {
    this.kill('SIGTERM');
    return this.exit;
  }
}

// Our own peer, with a ToyGame.
class ToyPeer extends Program {
  constructor(url, ...options) {
    super('toy_peer', url, '--seconds', 200, ...options);
  }

  // Its states before frames 0 to `frames`, in hexadecimal.
  async states(frames) {
    const states = [];
    for (let frame = 0; frame <= frames; ++frame) {
      states.push((await this.line(new RegExp(`^state ${frame} (\\w+)$`)))[1]);
    }
    return states;
  }
}

// Forwards connections to a port of this machine until it is told otherwise.
class Proxy {
  accepted = 0;
  refuse = 0;  // so many of the next ones are cut as they arrive
  #server;
  #pairs = new Set();

  static async to(address) {
    const proxy = new Proxy();
    const [host, port] = address.split(':');
    proxy.#server = net.createServer((near) => proxy.#join(near, host, port));
    await new Promise(
      (resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    proxy.address = `127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  #join(near, host, port) {
    ++this.accepted;
    if (this.refuse > 0) {
      --this.refuse;
      near.resetAndDestroy();
      return;
    }
    const pair = [near, net.connect(Number(port), host)];
    this.#pairs.add(pair);
    pair.forEach((socket, i) => {
      const other = pair[1 - i];
      socket.setNoDelay(true);
      socket.on('data', (data) => other.write(data));
      socket.on('end', () => other.end());
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => this.#pairs.delete(pair));
    });
  }

  // From here on nothing comes through, and nobody is told.
  hold() {
    for (const socket of [...this.#pairs].flat()) socket.pause();
  }

  // All connections are reset; what was held is lost.
  cut() {
    for (const socket of [...this.#pairs].flat()) socket.resetAndDestroy();
  }

  close() {
    this.cut();
    this.#server.close();
  }
}

module.exports = { ParlorHost, Proxy, ToyPeer };
