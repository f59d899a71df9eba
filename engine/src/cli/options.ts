/** How values of options are read; what cannot be read is wrong usage. */
import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../kernel/index.js';

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number from ${min} to ${max}.`);
  };
}

/** A duration, in ms. */
export function duration(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no duration: write 30s, 5m or 1h30m.`);
}

/** Collects `name=value` options. */
export function pair(text: string, known: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at > 0) return { ...known, [text.slice(0, at)]: text.slice(at + 1) };
  throw new InvalidArgumentError(`${JSON.stringify(text)} is not name=value.`);
}
