/** Seeds that failed once; they are run for ever. */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../kept-seeds.json', import.meta.url);

/** All kept seeds, ascending. */
export function keptSeeds(): readonly number[] {
  const seeds: readonly number[] = JSON.parse(readFileSync(FILE, 'utf8'));
  return seeds;
}

/** Adds seeds to the file. */
export function keepSeeds(seeds: readonly number[]): void {
  const all = [...new Set([...keptSeeds(), ...seeds])].sort((a, b) => a - b);
  writeFileSync(FILE, `${JSON.stringify(all)}\n`);
}
