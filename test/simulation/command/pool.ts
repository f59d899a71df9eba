/** Runs tasks in processes, so that two cores are used, and one seed can be compared between two processes. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { bundleChild } from './bundle.js';
import type { Answer, Task } from './task.js';

/** A process lives for minutes, and most of its code runs again and again: a twentieth of the time, too. */
const COMPILED = '--always-sparkplug';

/** A seed leaves much garbage and keeps little: with more room for the young, a seed takes a twentieth less time. */
const YOUNG = '--max-semi-space-size=64';

/** The tasks of one process, then those of all. */
function* tasksOf(own: readonly Task[], shared: Iterator<Task>): Generator<Task> {
  yield* own;
  for (let next = shared.next(); next.done !== true; next = shared.next()) yield next.value;
}

/** Does tasks in their order. Rejects when the process ends before. */
async function drain(child: ChildProcess, tasks: Iterable<Task>, answered: (answer: Answer) => void): Promise<void> {
  for (const task of tasks) {
    child.send(task);
    const ended = new AbortController();
    const answer = once(child, 'message', { signal: ended.signal });
    const exit = once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
      throw new RangeError(`a process of the simulator ended (${code ?? signal}) during ${JSON.stringify(task)}`);
    });
    const [message]: Answer[] = await Promise.race([answer, exit]).finally(() => ended.abort());
    exit.catch(() => undefined);
    if (message !== undefined) answered(message);
  }
}

/**
 * Runs lists of tasks, each list in a process of its own.
 *
 * @param shared tasks that whoever is free takes
 * @param answered told of each answer as it comes
 */
export async function runInProcesses(
  lists: readonly (readonly Task[])[],
  shared: readonly Task[],
  answered: (answer: Answer) => void,
): Promise<void> {
  const bundle = await bundleChild();
  const children = lists.map(() => fork(bundle.file, { execArgv: ['--enable-source-maps', YOUNG, COMPILED] }));
  const queue = shared.values();
  try {
    await Promise.all(children.map((child, index) => drain(child, tasksOf(lists[index] ?? [], queue), answered)));
  } finally {
    for (const child of children) if (child.connected) child.disconnect();
    bundle.remove();
  }
}
