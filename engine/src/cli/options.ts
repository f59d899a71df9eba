/** How values of options are read; what cannot be read is wrong usage. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../kernel/index.js';

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number from ${min} to ${max}.`);
  };
}

/** A whole number within bounds, which may be below zero. */
export function signedNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number from ${min} to ${max}.`);
  };
}

/** A number within bounds. */
export function decimal(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no number from ${min} to ${max}.`);
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

/** Adds `--expect`: a change is refused when somebody else made one since. */
export function expectOption(command: Command): Command {
  const what = 'refuse unless this is its version, as `get` prints it';
  return command.option('--expect <version>', what, wholeNumber(1, 2 ** 32 - 1));
}

/** Collects an option that may be repeated. */
export function several(text: string, known: readonly string[] = []): readonly string[] {
  return [...known, text];
}
