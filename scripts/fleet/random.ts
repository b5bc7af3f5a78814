/** Random numbers that can be repeated. */

/** Returns numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** Mulberry32. It is short, fast, and even enough for spreading waits. Each stream of a seed is a separate series. */
export function makeRandom(seed: number, stream: number): Random {
  let state = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
