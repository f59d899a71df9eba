/** `ductor run cancel`. */
import { type CancelRunResponse, Run } from '../../gen/ductor/v1/run.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { runStateName } from '../view/marks.js';
import { given } from '../workflow/find-definition.js';

/** Options of the command. */
export interface ReasonOptions extends ClientOptions {
  readonly reason?: string;
}

/** Prints the run as a request has left it. */
async function printRequested(context: CliContext, run: Run, options: ClientOptions): Promise<void> {
  const { terminal } = context;
  if (options.json === true) terminal.out(`${await messageToJson('Run', Run, run)}\n`);
  else terminal.out(`${run.id}  ${runStateName(run.state)}\n`);
}

/** Runs the command. */
export function cancelRun(context: CliContext, runId: string, options: ReasonOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { reason = '' } = options;
    const { data } = await engine.ask<CancelRunResponse>((...rest) =>
      engine.runs.cancelRun({ runId, reason }, ...rest),
    );
    await printRequested(context, given(data), options);
  });
}
