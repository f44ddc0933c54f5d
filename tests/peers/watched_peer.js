// Part of the page that chromium_match_test.js drives: a LockstepPeer with a
// ToyGame, whose doings can be waited for.
'use strict';

const PATIENCE_MS = 60_000;

class WatchedPeer extends LockstepPeer {
  compared = [];      // each HASH of another seat: { slot, frame, own, theirs }
  held = new Set();   // seats that were away at any time
  #frames;
  #waiting = new Set();

  // Plays that many frames, and stays.
  constructor(url, code, frames) {
    const game = new ToyGame();
    super(url, code, game);
    this.game = game;
    this.#frames = frames;
    this.onChange = () => {
      for (const seat of this.away) this.held.add(seat);
      this.#look();
    };
    this.run(60);
  }

  // Resolves when `condition` is true; rejects when the match ends before, or
  // nothing comes of it.
  until(condition) {
    return new Promise((resolve, reject) => {
      this.#waiting.add({ condition, resolve, reject });
      setTimeout(() => reject(new Error(`waits at frame ${this.frame}`)),
                 PATIENCE_MS);
      this.#look();
    });
  }

  // How many others' HASH of that frame came.
  heard(frame) {
    return this.compared.filter((hash) => hash.frame === frame).length;
  }

  compare(slot, frame, own, theirs) {
    this.compared.push({ slot, frame, own, theirs });
    super.compare(slot, frame, own, theirs);
    this.#look();
  }

  step() {
    const ran = this.frame < this.#frames && super.step();
    if (!ran) this.flush();
    this.#look();
    return ran;
  }

  #look() {
    for (const wait of this.#waiting) {
      if (wait.condition()) {
        wait.resolve();
      } else if (this.state === 'ended') {
        wait.reject(new Error(`ended ${this.end.code} ${this.end.reason}`));
      } else {
        continue;
      }
      this.#waiting.delete(wait);
    }
  }
}
