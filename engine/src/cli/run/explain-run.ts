/** `ductor run explain`: the one reason a run waits for. */
import {
  type ExplainRunResponse,
  RunExplanation,
  RunReason,
  type RunExplanation as Explanation,
} from '../../gen/ductor/v1/run.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { type Paint, painter } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { distanceText, momentText, usOf } from '../output/times.js';
import { runStateName, runTone } from '../view/marks.js';
import { given } from '../workflow/find-definition.js';

/** What a person can do about a reason; absent: nothing has to be done. */
const REMEDIES: ReadonlyMap<RunReason, (runId: string) => string> = new Map<RunReason, (runId: string) => string>([
  [
    RunReason.RUN_REASON_PARKED,
    (id) => `Go on: ductor run retry ${id}, or resume without another attempt. Give up: ductor run cancel ${id}`,
  ],
  [RunReason.RUN_REASON_PAUSED, (id) => `Go on: ductor run resume ${id}`],
  [RunReason.RUN_REASON_NO_HANDLER, () => 'Start a worker that has the handler and serves the queue.'],
  [RunReason.RUN_REASON_NO_FREE_WORKER, () => 'Wait, start more workers, or give them more capacity.'],
]);

const reasonName = (reason: RunReason): string => (RunReason[reason] ?? String(reason)).replace('RUN_REASON_', '');

function explanationText(told: Explanation, paint: Paint, nowUs: number): string {
  const { runId, state, reason, message, step, attempt, worker, queue, handler, code, since, until, otherSteps } = told;
  const [sinceUs, untilUs] = [usOf(since), usOf(until)];
  const facts: (readonly [string, string])[] = [
    ['step', step === '' ? '' : `${step}${attempt > 1 ? `, attempt ${attempt}` : ''}`],
    ['handler', handler === '' ? '' : `${handler} on queue ${queue}`],
    ['worker', worker],
    ...told.semaphores.map(({ key, limit, held, place }): readonly [string, string] => [
      'key',
      `${key}: ${held} of ${limit} hold it, place ${place} in line`,
    ]),
    ...told.holds.map((held): readonly [string, string] => [
      'holds',
      `${held.recipientName || held.recipientId}, ${held.units} ${held.units === 1 ? 'unit' : 'units'} by ${held.step}`,
    ]),
    ['code', code],
    ['since', sinceUs === null ? '' : `${momentText(sinceUs)}, ${distanceText(sinceUs, nowUs)}`],
    ['until', untilUs === null ? '' : `${momentText(untilUs)}, ${distanceText(untilUs, nowUs)}`],
    ['beside it', otherSteps === 0 ? '' : `${otherSteps} other ${otherSteps === 1 ? 'step' : 'steps'} under way`],
    ['what to do', REMEDIES.get(reason)?.(runId) ?? ''],
  ];
  const lines = facts
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${paint('quiet', name.padEnd(10))}  ${oneLine(text)}\n`);
  const head = `${paint(runTone(state), runStateName(state))}, ${reasonName(reason)}: ${oneLine(message)}\n`;
  return `${head}${lines.join('')}`;
}

/** Runs the command. */
export function explainRun(context: CliContext, runId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const { data } = await engine.ask<ExplainRunResponse>((...rest) => engine.runs.explainRun({ runId }, ...rest));
    const told = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('RunExplanation', RunExplanation, told)}\n`);
    else terminal.out(explanationText(told, painter(terminal), clock.nowUs()));
  });
}
