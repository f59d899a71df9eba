/** `ductor run signal` and `ductor run approve`: what people say to a run. */
import {
  Run,
  SignalRunRequest,
  SignalWithStartRequest,
  SignalWithStartResponse,
  type SignalRunResponse,
} from '../../gen/ductor/v1/run.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson, parseJson } from '../output/message-json.js';
import { readArgument } from '../read-text.js';
import { runStateName } from '../view/marks.js';
import { given } from '../workflow/find-definition.js';
import { triggerOf, type TriggerOptions } from './trigger.js';

/** Options of `signal`. */
export interface SignalOptions extends ClientOptions {
  readonly payload?: string;
  readonly id?: string;
}

/** Options of `approve`. */
export interface ApproveOptions extends ClientOptions {
  readonly option?: string;
  readonly by?: string;
  readonly comment?: string;
  readonly form?: string;
  readonly id?: string;
}

function send(context: CliContext, options: ClientOptions, request: () => SignalRunRequest): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const message = request();
    const { data } = await engine.ask<SignalRunResponse>((...rest) => engine.runs.signalRun(message, ...rest));
    const run = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('Run', Run, run)}\n`);
    else terminal.out(`${run.id}  ${runStateName(run.state)}  heard ${message.name}\n`);
  });
}

/** The payload of a signal. As it was written: numbers and the order of fields stay exactly what they are. */
function payloadOf({ payload }: SignalOptions): SignalRunRequest['payloadBytes'] {
  if (payload === undefined) return undefined;
  const { text, where } = readArgument(payload);
  parseJson(text, where);
  return { data: Buffer.from(text, 'utf8'), encoding: '' };
}

/** Runs `ductor run signal`. */
export function signalRun(context: CliContext, runId: string, name: string, options: SignalOptions): Promise<void> {
  return send(context, options, () => {
    const { id: signalId = '' } = options;
    const payloadBytes = payloadOf(options);
    return SignalRunRequest.fromPartial({ runId, name, signalId, ...(payloadBytes && { payloadBytes }) });
  });
}

/** Options of `signal-with-start`. */
export interface SignalStartOptions
  extends SignalOptions, Pick<TriggerOptions, 'input' | 'runKey' | 'attribute' | 'version' | 'retention'> {}

/** Runs `ductor run signal-with-start`. */
export function signalWithStart(
  context: CliContext,
  slug: string,
  name: string,
  options: SignalStartOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { id: signalId = '' } = options;
    const payloadBytes = payloadOf(options);
    const start = triggerOf(slug, options);
    const request = SignalWithStartRequest.fromPartial({
      start,
      name,
      signalId,
      ...(payloadBytes && { payloadBytes }),
    });
    const answer = await engine.ask<SignalWithStartResponse>((...rest) =>
      engine.runs.signalWithStart(request, ...rest),
    );
    const run = given(answer.data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('SignalWithStartResponse', SignalWithStartResponse, answer)}\n`);
      return;
    }
    const how = answer.started ? 'started with' : 'heard';
    terminal.out(`${run.id}  ${runStateName(run.state)}  ${how} ${name}\n`);
  });
}

/** Runs `ductor run approve`. */
export function approveRun(context: CliContext, runId: string, name: string, options: ApproveOptions): Promise<void> {
  return send(context, options, () => {
    const { option = 'approve', by = '', comment = '', id: signalId = '' } = options;
    const form = ((): unknown => {
      if (options.form === undefined) return undefined;
      const { text, where } = readArgument(options.form);
      return parseJson(text, where);
    })();
    return SignalRunRequest.fromPartial({ runId, name, signalId, decision: { option, by, comment, form } });
  });
}
