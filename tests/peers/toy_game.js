// tests/support/toy_game.h once more, for a page: the same state from the same
// inputs, in 64 bits. It keeps the state before each frame, in hexadecimal.
'use strict';

// One round of SplitMix64, as there.
function mix(state, word) {
  const u64 = (z) => BigInt.asUintN(64, z);
  let z = u64((state ^ BigInt(word)) + 0x9e3779b97f4a7c15n);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

class ToyGame {
  states = [];
  firstBotFrame;
  #state = 0n;
  #seat = 0;

  begin({ seat, seed, delay }) {
    const build = 1;
    this.#seat = seat;
    this.#state = mix(mix(BigInt(seed), build), delay);
    this.#keep();
  }

  input(frame) {
    return (Math.imul(frame + 1, 0x9e3779b1) ^
            Math.imul(this.#seat, 0x85ebca77)) >>> 0;
  }

  step(frame, words, bots) {
    if (bots.length > 0) this.firstBotFrame ??= frame;
    const mask = bots.reduce((bits, seat) => bits | (1 << seat), 0) >>> 0;
    for (const word of [frame, ...words, mask]) {
      this.#state = mix(this.#state, word);
    }
    this.#keep();
  }

  hash() {
    return Number(this.#state >> 32n);
  }

  #keep() {
    this.states.push(this.#state.toString(16).padStart(16, '0'));
  }
}
