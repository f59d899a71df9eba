/** The end of a program's process: the adapter to the machine. */

/** What is left of a program that has come to its end keeps its process no longer than this, ms. */
const LINGER_MS = 10_000;

/**
 * Ends the process with the exit code that was set, now when nothing is left to do, else before long. Whoever starts a
 * node again that could not start waits for the end of its process.
 */
export function endProcess(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}
