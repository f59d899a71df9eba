// Loaded before an engine (`node --import`): what the machine says the time is, is wrong by SHIFT_MS, and jumps by
// JUMP_MS forward and back every JUMP_EVERY_MS. The time that only goes on, performance.now(), stays right.
const shiftMs = Number(process.env.SHIFT_MS ?? 0);
const jumpMs = Number(process.env.JUMP_MS ?? 0);
const everyMs = Number(process.env.JUMP_EVERY_MS ?? 1_000);
const now = Date.now.bind(Date);

/** By how much the clock is wrong now: right, ahead, right, behind, and so on. */
function wrongMs() {
  const turn = Math.floor(performance.now() / everyMs) % 4;
  return shiftMs + [0, jumpMs, 0, -jumpMs][turn];
}

const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(now() + wrongMs());
    else super(...given);
  }
  static now() {
    return now() + wrongMs();
  }
};
