/** A worker as a process of its own: a TypeScript file that prints "worker ready" once its worker is welcome. */
import { type Child, startChild } from './child.js';
import { until } from './wait.js';

/** Which worker. */
export interface WorkerProcessOptions {
  readonly name: string;
  /** Arguments of node: a script and its arguments. */
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
  readonly onMessage?: (message: unknown) => void;
}

/** Arguments of node that run a TypeScript file of the project. */
export function typescript(file: string, ...args: readonly string[]): readonly string[] {
  return ['--import', 'tsx', file, ...args];
}

/** Starts a process; resolves when a line of it holds the text. Throws with its output if it ends before. */
export async function startUntilLine(options: WorkerProcessOptions, text: string): Promise<Child> {
  let isReady = false;
  const child = startChild({
    ...options,
    onLine: (line) => {
      isReady ||= line.includes(text);
      options.onLine?.(line);
    },
  });
  await until(
    `${options.name} to say "${text}"`,
    () => {
      if (!isReady && !child.isRunning) throw new Error(`${options.name} ended before it was ready\n${child.output}`);
      return isReady;
    },
    { limitMs: 30_000, everyMs: 5, detail: () => child.output },
  );
  return child;
}

/** Starts a worker; resolves when it is welcome at an engine. */
export function startWorker(options: WorkerProcessOptions): Promise<Child> {
  return startUntilLine(options, 'worker ready');
}
