/** `ductor run watch`: a run until its end. Redrawn in place where a person looks on, else a line for each change. */
import { Run, type StepRun } from '../../gen/ductor/v1/run.js';
import type { WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { Frame } from '../output/frame.js';
import { messageToJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { momentText } from '../output/times.js';
import { runStateName, runTone, stepMark, stepStateName } from '../view/marks.js';
import { failureText, runText, stepDetail } from '../view/run-view.js';
import { definitionOf } from './show.js';
import { followRun, type RunNews } from './run-stream.js';

/** Options of the command. */
export interface WatchOptions extends ClientOptions {
  /** Give up after so many ms; the run goes on. */
  readonly timeout?: number;
}

/** Each change of the run as a line of JSON. */
function jsonNews({ terminal }: CliContext): RunNews {
  return {
    changed: async (run) => terminal.out(`${await messageToJson('Run', Run, run)}\n`),
    lost: (error) => terminal.err(`${error.message}; trying again\n`),
    found: () => terminal.err('an engine answers again\n'),
  };
}

/** A line for each step that changed, and for the run. */
function lineNews({ terminal, clock }: CliContext): RunNews {
  const paint = painter(terminal);
  const known = new Map<string, string>();
  let lastState: string | undefined;
  const line = (name: string, state: string, detail: string): void =>
    terminal.out(`${`${momentText(clock.nowUs())}  ${name}  ${state}  ${detail}`.trimEnd()}\n`);
  const tell = (step: StepRun): void => {
    const said = `${step.state} ${step.attempt} ${stepDetail(step)}`;
    const isFirst = !known.has(step.path);
    if (known.get(step.path) === said) return;
    known.set(step.path, said);
    // What has not been reached yet is no news.
    if (isFirst && stepStateName(step.state) === 'PENDING') return;
    const attempt = step.attempt > 1 ? `attempt ${step.attempt}  ` : '';
    line(step.path, paint(stepMark(step.state).tone, stepStateName(step.state)), attempt + stepDetail(step));
  };
  return {
    async changed(run) {
      for (const step of run.steps) tell(step);
      const state = runStateName(run.state);
      if (state === lastState) return;
      lastState = state;
      line('run', paint(runTone(run.state), state), run.error === undefined ? '' : failureText(run.error));
    },
    lost: (error) => line('engine', paint('warning', 'GONE'), `${error.message}; trying again`),
    found: () => line('engine', paint('good', 'BACK'), ''),
  };
}

/** The picture of `run show`, drawn again at each change. */
function liveNews(context: CliContext, engine: EngineClient): RunNews {
  const { terminal, clock } = context;
  const frame = new Frame(terminal);
  let definition: Promise<WorkflowDefinition | undefined> | undefined;
  let last = '';
  return {
    async changed(run) {
      definition ??= definitionOf(engine, run);
      last = runText(run, await definition, terminal, clock.nowUs());
      frame.show(last);
    },
    lost: (error) => frame.show(`${last}\n${painter(terminal)('warning', `${error.message}; trying again`)}\n`),
    // The picture that follows says so.
    found: () => undefined,
  };
}

function newsFor(context: CliContext, engine: EngineClient, options: WatchOptions): RunNews {
  if (options.json === true) return jsonNews(context);
  return context.terminal.isLive ? liveNews(context, engine) : lineNews(context);
}

/** Rejects with deadline_exceeded after so many ms, unless it is cleared. */
function deadline(
  { clock }: CliContext,
  runId: string,
  ms: number,
): { readonly missed: Promise<never>; clear(): void } {
  let clear = (): void => undefined;
  const missed = new Promise<never>((_resolve, reject) => {
    const timer = clock.setTimer(ms, () => {
      const remedy = `The run goes on: ductor run show ${runId}`;
      reject(new DuctorError('deadline_exceeded', `run ${runId} has not ended within ${ms} ms`, { remedy }));
    });
    clear = () => timer.cancel();
  });
  return { missed, clear: () => clear() };
}

/** Watches a run; the command fails unless the run completes. */
export async function watchToEnd(
  context: CliContext,
  engine: EngineClient,
  runId: string,
  options: WatchOptions,
): Promise<void> {
  const ended = followRun(engine, runId, newsFor(context, engine, options));
  const limit = options.timeout === undefined ? undefined : deadline(context, runId, options.timeout);
  try {
    const run = await (limit === undefined ? ended : Promise.race([ended, limit.missed]));
    if (runStateName(run.state) !== 'COMPLETED') context.fail();
    if (options.json !== true && !context.terminal.isLive && run.output !== undefined) {
      context.terminal.out(`${JSON.stringify(run.output)}\n`);
    }
  } finally {
    limit?.clear();
    // The loser of the race ends when the engine's channel is closed.
    ended.catch(() => undefined);
  }
}

/** Runs the command. */
export function watchRun(context: CliContext, runId: string, options: WatchOptions): Promise<void> {
  return withEngine(context, options, (engine) => watchToEnd(context, engine, runId, options));
}
