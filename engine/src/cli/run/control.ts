/** `ductor run cancel`, `terminate`, `pause`, `resume` and `retry`: what people ask of a run. */
import { Run, RunState } from '../../gen/ductor/v1/run.js';
import { DuctorError, sleep } from '../../kernel/index.js';
import type { CallRest, EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { isClosedState, runStateName } from '../view/marks.js';
import { given } from '../workflow/find-definition.js';
import { findRun } from './show.js';

/** Options of the commands; only some take a reason. */
export interface ControlOptions extends ClientOptions {
  readonly reason?: string;
  /** Of retry. */
  readonly from?: string;
  readonly key?: string;
}

/** What is asked: sends the request, answered by the run as it is then. */
type Ask = (
  engine: EngineClient,
  request: { readonly runId: string; readonly reason: string } & Pick<ControlOptions, 'from' | 'key'>,
  rest: CallRest<{ data: Run | undefined }>,
) => unknown;

/** How each is asked. */
const ASKS = {
  cancel: ({ runs }, { runId, reason }, rest) => runs.cancelRun({ runId, reason }, ...rest),
  terminate: ({ runs }, { runId, reason }, rest) => runs.terminateRun({ runId, reason }, ...rest),
  pause: ({ runs }, { runId, reason }, rest) => runs.pauseRun({ runId, reason }, ...rest),
  resume: ({ runs }, { runId }, rest) => runs.resumeRun({ runId }, ...rest),
  retry: ({ runs }, { runId, reason, from = '', key: idempotencyKey = '' }, rest) =>
    runs.retryRun({ runId, reason, from, idempotencyKey }, ...rest),
} satisfies Readonly<Record<string, Ask>>;

const isHeld = (state: RunState): boolean => state === RunState.RUN_STATE_PAUSED || state === RunState.RUN_STATE_PARKED;

/** Whether a run in this state has heard of the request: requests are durable when answered, and heard a tick later. */
const HAS_HEARD: Readonly<Record<keyof typeof ASKS, (state: RunState) => boolean>> = {
  cancel: (state) => state === RunState.RUN_STATE_CANCELLING || isClosedState(state),
  terminate: isClosedState,
  pause: (state) => isHeld(state) || isClosedState(state),
  resume: (state) => !isHeld(state),
  retry: (state) => !isHeld(state),
};
const LOOKS = 40;
const LOOK_MS = 50;

/** The run once it has heard, or as it is after two seconds. A key that may not read runs sees what it was answered. */
async function heard(engine: EngineClient, run: Run, hasHeard: (state: RunState) => boolean): Promise<Run> {
  let current = run;
  for (let looks = 0; looks < LOOKS && !hasHeard(current.state); looks += 1) {
    await sleep(engine.clock, LOOK_MS);
    try {
      current = await findRun(engine, run.id);
    } catch (error) {
      if (DuctorError.from(error).code !== 'permission_denied') throw error;
      return run;
    }
  }
  return current;
}

/** Runs one of the commands. */
export function controlRun(
  context: CliContext,
  what: keyof typeof ASKS,
  runId: string,
  options: ControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { reason = '', ...more } = options;
    const request = { ...more, runId, reason };
    const { data } = await engine.ask<{ data: Run | undefined }>((...rest) => ASKS[what](engine, request, rest));
    const run = await heard(engine, given(data), HAS_HEARD[what]);
    if (options.json === true) terminal.out(`${await messageToJson('Run', Run, run)}\n`);
    else terminal.out(`${run.id}  ${runStateName(run.state)}\n`);
  });
}
