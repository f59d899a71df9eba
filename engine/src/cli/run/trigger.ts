/** `ductor run trigger`: starts a run, and waits for its end where asked. */
import { Run, RunKeyConflict, TriggerRunRequest, type TriggerRunResponse } from '../../gen/ductor/v1/run.js';
import { formatDurationMs } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson, parseJson } from '../output/message-json.js';
import { readArgument } from '../read-text.js';
import { runStateName } from '../view/marks.js';
import { given } from '../workflow/find-definition.js';
import { watchToEnd } from './watch.js';

/** Options of the command. */
export interface TriggerOptions extends ClientOptions {
  readonly input?: string;
  readonly key?: string;
  readonly runKey?: string;
  readonly refuse?: boolean;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly version?: number;
  /** Milliseconds. */
  readonly retention?: number;
  readonly wait?: boolean;
  /** For --wait, ms. */
  readonly timeout?: number;
}

/** What is asked for by the options. Throws invalid_argument for an input that is no JSON. */
export function triggerOf(familySlug: string, options: TriggerOptions): TriggerRunRequest {
  const { input, key = '', runKey = '', attribute = {}, version = 0 } = options;
  const retention = options.retention === undefined ? '' : formatDurationMs(options.retention);
  const payload = ((): TriggerRunRequest['inputPayload'] => {
    if (input === undefined) return undefined;
    const { text, where } = readArgument(input);
    parseJson(text, where);
    // As it was written: numbers and the order of fields stay exactly what they are.
    return { data: Buffer.from(text, 'utf8'), encoding: '' };
  })();
  return TriggerRunRequest.fromPartial({
    ...{ familySlug, version, attributes: { ...attribute }, idempotencyKey: key, runKey, retention },
    ...(options.refuse === true ? { onOpen: RunKeyConflict.RUN_KEY_CONFLICT_REFUSE } : {}),
    ...(payload === undefined ? {} : { inputPayload: payload }),
  });
}

/** Runs the command. */
export function triggerRun(context: CliContext, slug: string, options: TriggerOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const request = triggerOf(slug, options);
    const { data } = await engine.ask<TriggerRunResponse>((...rest) => engine.runs.triggerRun(request, ...rest));
    const run = given(data);
    if (options.wait === true) {
      if (options.json !== true) terminal.err(`started ${run.id}\n`);
      await watchToEnd(context, engine, run.id, options);
    } else if (options.json === true) {
      terminal.out(`${await messageToJson('Run', Run, run)}\n`);
    } else {
      terminal.out(`${run.id}  ${runStateName(run.state)}  ${run.familySlug} version ${run.version}\n`);
      terminal.err(`(ductor run show ${run.id}, ductor run watch ${run.id})\n`);
    }
  });
}
