/** `ductor pool create` and `ductor pool update`. */
import {
  CreatePoolRequest,
  PoolInput,
  type CreatePoolResponse,
  type UpdatePoolResponse,
} from '../../gen/ductor/v1/pool.js';
import { bodyOf, changedBody, type Fields } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { changeFromJson, messageFromJson, parseJson } from '../output/message-json.js';
import { readArgument } from '../read-text.js';
import { given } from '../workflow/find-definition.js';
import { findPoolId } from './find.js';
import { printPool } from './show.js';

/** Options by which a pool is made and changed. */
export interface PoolContentOptions extends ClientOptions {
  readonly file?: string;
  readonly name?: string;
  readonly description?: string;
  readonly status?: string;
  readonly strategy?: string;
  /** Parameters of the strategy: JSON, @FILE or -. */
  readonly params?: string;
  /** CEL: who may get the work. */
  readonly eligible?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

function jsonOf(argument: string | undefined): unknown {
  if (argument === undefined) return undefined;
  const { text, where } = readArgument(argument);
  return parseJson(text, where);
}

function fieldsOf({ name, description, status, strategy, params, eligible, metadata }: PoolContentOptions): Fields {
  return {
    ...{ name, description, status, strategy, metadata },
    'config.eligibility_rule': eligible,
    'config.strategy_params': jsonOf(params),
  };
}

/** Runs `ductor pool create`. */
export function createPool(context: CliContext, name: string | undefined, options: PoolContentOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = bodyOf(options.file, { ...fieldsOf(options), name });
    const request = await messageFromJson('CreatePoolRequest', CreatePoolRequest, JSON.stringify(fields), where);
    const { data } = await engine.ask<CreatePoolResponse>((...rest) => engine.pools.createPool(request, ...rest));
    const pool = given(data);
    await printPool(context, pool, options);
    if (options.json !== true)
      context.terminal.err(`(give it recipients: ductor recipient create ${pool.name} NAME)\n`);
  });
}

/** Options of `ductor pool update`. */
export interface UpdatePoolOptions extends PoolContentOptions {
  readonly expect?: number;
}

/** Runs `ductor pool update`. */
export function updatePool(context: CliContext, name: string, options: UpdatePoolOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = changedBody(options.file, fieldsOf(options), '--strategy least_loaded');
    const { message: pool, updateMask } = await changeFromJson('PoolInput', PoolInput, JSON.stringify(fields), where);
    const request = { poolId: await findPoolId(engine, name), pool, updateMask, expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<UpdatePoolResponse>((...rest) => engine.pools.updatePool(request, ...rest));
    await printPool(context, given(data), options);
  });
}
