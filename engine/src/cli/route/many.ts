/** `ductor route batch`. */
import { RouteBatchRequest, RouteBatchResponse, type RouteOutcome } from '../../gen/ductor/v1/routing.js';
import { bodyOf } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson } from '../output/message-json.js';
import { type Cell, table } from '../output/table.js';
import { outcomeTone } from './outcome.js';

function rowOf({ outcome }: RouteOutcome, place: number): readonly Cell[] {
  if (outcome?.$case !== 'decision') {
    const problem = outcome === undefined ? '' : `${outcome.value.code}: ${outcome.value.message}`;
    return [String(place), '', '', { text: problem, tone: 'bad' }];
  }
  const { routableId, slate, id, outcome: text } = outcome.value;
  const got = slate.map(({ recipientId }) => recipientId).join(' ');
  return [
    String(place),
    routableId,
    id,
    { text: got === '' ? text : `${text}: ${got}`, tone: outcomeTone(outcome.value) },
  ];
}

/** Whether somebody has the work, or it waits. */
function isFine({ outcome }: RouteOutcome): boolean {
  return outcome?.$case === 'decision' && ['success', 'waiting'].includes(outcome.value.outcomeClass);
}

/** Runs `ductor route batch`: fails unless somebody has each of them. */
export function sendBatch(context: CliContext, file: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = bodyOf(file, {});
    const request = await messageFromJson('RouteBatchRequest', RouteBatchRequest, JSON.stringify(fields), where);
    const answer = await engine.ask<RouteBatchResponse>((...rest) => engine.routing.routeBatch(request, ...rest));
    const { terminal } = context;
    if (!answer.data.every(isFine)) context.fail();
    if (options.json === true) {
      terminal.out(`${await messageToJson('RouteBatchResponse', RouteBatchResponse, answer)}\n`);
    } else terminal.out(table(terminal, ['ITEM', 'WORK', 'DECISION', 'OUTCOME'], answer.data.map(rowOf)));
  });
}
