// Part of the page that chromium_test.js drives: a browser's WebSocket whose
// events can be waited for.
'use strict';

class PageSocket {
  #messages = [];
  #wanted = [];

  constructor(url, protocols = []) {
    this.socket = new WebSocket(url, protocols);
    this.socket.binaryType = 'arraybuffer';
    let errors = 0;
    this.socket.onerror = () => ++errors;
    this.opened = new Promise((resolve, reject) => {
      this.socket.onopen = () => resolve(this);
      this.closed = new Promise((tell) => {
        this.socket.onclose = ({ code, reason, wasClean }) => {
          tell({ code, reason, wasClean, errors });
          reject(new Error(`closed ${code}`));
        };
      });
    });
    // Who waits for the close alone does not wait for this.
    this.opened.catch(() => {});
    this.socket.onmessage = ({ data }) => {
      const next = this.#wanted.shift();
      if (next) next(data);
      else this.#messages.push(data);
    };
  }

  message() {
    if (this.#messages.length > 0) return this.#messages.shift();
    return new Promise((resolve, reject) => {
      this.#wanted.push(resolve);
      this.closed.then(({ code }) =>
        reject(new Error(`closed ${code} before a message`)));
    });
  }
}

// Whether the socket echoes what it is sent: a string, or that many bytes.
async function echoes(link, data) {
  if (typeof data === 'string') {
    link.socket.send(data);
    return await link.message() === data;
  }
  const bytes = Uint8Array.from({ length: data }, (_, i) => i * 7 + (i >> 8));
  link.socket.send(bytes);
  const back = new Uint8Array(await link.message());
  return back.length === data && back.every((byte, i) => byte === bytes[i]);
}
