/** `ductor run update` and `ductor run query`: what people ask of a run. */
import {
  type QueryRunResponse,
  UpdateRunRequest,
  UpdateRunResponse,
  UpdateState,
  QueryRunResponse as QueryRunMessage,
} from '../../gen/ductor/v1/run.js';
import { DuctorError } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson, parseJson } from '../output/message-json.js';
import { readArgument } from '../read-text.js';
import { given } from '../workflow/find-definition.js';

/** Options of `update`. */
export interface UpdateOptions extends ClientOptions {
  readonly input?: string;
  readonly id?: string;
  readonly wait?: string;
}

/** Runs `ductor run update`. */
export function updateRun(context: CliContext, runId: string, name: string, options: UpdateOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { input, id: updateId = '', wait = '10s' } = options;
    const request = UpdateRunRequest.fromPartial({ runId, name, updateId, wait });
    if (input !== undefined) {
      const { text, where } = readArgument(input);
      parseJson(text, where);
      // As it was written: numbers and the order of fields stay exactly what they are.
      request.inputBytes = { data: Buffer.from(text, 'utf8'), encoding: '' };
    }
    const answer = await engine.ask<UpdateRunResponse>((...rest) => engine.runs.updateRun(request, ...rest));
    const { state, updateId: id, output, error } = given(answer.data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('UpdateRunResponse', UpdateRunResponse, answer)}\n`);
    } else if (state === UpdateState.UPDATE_STATE_COMPLETED) {
      terminal.out(`${JSON.stringify(output ?? null, null, 2)}\n`);
    } else if (state === UpdateState.UPDATE_STATE_ACCEPTED) {
      terminal.out(`the run has it, and has not answered within ${wait}; ask again with --id ${id}\n`);
    }
    if (state !== UpdateState.UPDATE_STATE_FAILED) return;
    throw new DuctorError('update_failed', `${error?.code ?? 'error'}: ${error?.message ?? 'no reason was recorded'}`);
  });
}

/** Runs `ductor run query`. */
export function queryRun(context: CliContext, runId: string, name: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const answer = await engine.ask<QueryRunResponse>((...rest) => engine.runs.queryRun({ runId, name }, ...rest));
    const { value } = given(answer.data);
    if (options.json === true) terminal.out(`${await messageToJson('QueryRunResponse', QueryRunMessage, answer)}\n`);
    else terminal.out(`${JSON.stringify(value ?? null, null, 2)}\n`);
  });
}
