/** `ductor run fork`: a new run that takes over what another one came to, or what it would be. */
import { ForkRunRequest, ForkRunResponse, type ForkedStep } from '../../gen/ductor/v1/run.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { painter, type Paint } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { runStateName, stepStateName } from '../view/marks.js';
import { changeLine } from '../workflow/diff.js';

/** Options of the command. */
export interface ForkOptions extends ClientOptions {
  readonly from: string;
  readonly version?: number;
  readonly dryRun?: boolean;
  readonly key?: string;
  readonly reason?: string;
}

function stepLine({ ref, kept, state }: ForkedStep, paint: Paint): string {
  const name = paint(kept ? 'quiet' : 'good', `${kept ? '=' : '>'} ${oneLine(ref)}`);
  return `${name}  ${kept ? 'kept' : 'runs again'}  (${stepStateName(state)})\n`;
}

function picture({ steps, changes }: ForkRunResponse, paint: Paint): string {
  const kept = steps.filter((step) => step.kept).length;
  const counts = `${kept} of ${steps.length} steps are kept, ${steps.length - kept} run again\n`;
  const lines = steps.map((step) => stepLine(step, paint)).join('');
  const differs = changes.length === 0 ? '' : `the definition differs:\n`;
  return `${counts}${lines}${differs}${changes.map((change) => changeLine(change, paint)).join('')}`;
}

/** Runs the command. */
export function forkRun(context: CliContext, runId: string, options: ForkOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { from, version = 0, dryRun = false, key: idempotencyKey = '', reason = '' } = options;
    const request = ForkRunRequest.fromPartial({ runId, from, version, dryRun, idempotencyKey, reason });
    const answer = await engine.ask<ForkRunResponse>((...rest) => engine.runs.forkRun(request, ...rest));
    if (options.json === true) {
      terminal.out(`${await messageToJson('ForkRunResponse', ForkRunResponse, answer)}\n`);
      return;
    }
    terminal.out(picture(answer, painter(terminal)));
    const { data } = answer;
    if (data === undefined) terminal.err('(nothing was started: leave --dry-run out to fork the run)\n');
    else terminal.out(`${data.id}  ${runStateName(data.state)}  ${data.familySlug} version ${data.version}\n`);
  });
}
