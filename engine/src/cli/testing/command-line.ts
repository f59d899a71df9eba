/** The command line as a test calls it, in its own process. */
import { expect } from 'vitest';
import { runProgram } from '../program.js';
import { capturedTerminal } from './captured-terminal.js';

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs commands. */
export interface CommandLine {
  run(...line: readonly string[]): Promise<Ended>;
  /** A command that must end well; what it printed. */
  done(...line: readonly string[]): Promise<string>;
  /** A command that must end well and print JSON. */
  json(...line: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
}

/** Commands under an environment. */
export function commandLine(env: Readonly<Record<string, string>>): CommandLine {
  const run = async (...line: readonly string[]): Promise<Ended> => {
    const terminal = capturedTerminal();
    const code = await runProgram(['node', 'ductor', ...line], env, terminal);
    return { code, out: terminal.written(), err: terminal.complained() };
  };
  const done = async (...line: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(...line);
    expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
    return out;
  };
  return {
    run,
    done,
    json: async (...line) => JSON.parse(await done(...line)) as Readonly<Record<string, unknown>>,
  };
}
