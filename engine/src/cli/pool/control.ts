/** `ductor pool enable`, `disable`, `reset-capacity` and `delete`. */
import {
  CapacityReset,
  type DeletePoolResponse,
  type ResetPoolCapacityResponse,
  type SetPoolEnabledResponse,
} from '../../gen/ductor/v1/pool.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { oneLine } from '../output/safe-text.js';
import { given } from '../workflow/find-definition.js';
import { findPoolId } from './find.js';
import { printPool } from './show.js';

/** Options of the commands; deleting takes no reason. */
export interface PoolControlOptions extends ClientOptions {
  readonly reason?: string;
  readonly expect?: number;
}

/** Runs `ductor pool enable` and `disable`. */
export function setPoolEnabled(
  context: CliContext,
  name: string,
  enabled: boolean,
  options: PoolControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { expect: expectedVersion = 0, reason = '' } = options;
    const request = { poolId: await findPoolId(engine, name), enabled, expectedVersion, reason };
    const { data } = await engine.ask<SetPoolEnabledResponse>((...rest) =>
      engine.pools.setPoolEnabled(request, ...rest),
    );
    await printPool(context, given(data), options);
  });
}

/** Runs `ductor pool reset-capacity`. */
export function resetPoolCapacity(context: CliContext, name: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { poolId: await findPoolId(engine, name) };
    const { data } = await engine.ask<ResetPoolCapacityResponse>((...rest) =>
      engine.pools.resetPoolCapacity(request, ...rest),
    );
    const reset = given(data);
    if (options.json === true) context.terminal.out(`${await messageToJson('CapacityReset', CapacityReset, reset)}\n`);
    else {
      const count = `${reset.recipientsAffected} ${reset.recipientsAffected === 1 ? 'recipient' : 'recipients'}`;
      context.terminal.out(`${count} begin at zero; what workflows hold stays held\n`);
    }
  });
}

/** Runs `ductor pool delete`. */
export function deletePool(context: CliContext, name: string, options: PoolControlOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { poolId: await findPoolId(engine, name), expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<DeletePoolResponse>((...rest) => engine.pools.deletePool(request, ...rest));
    const pool = given(data);
    if (options.json === true) await printPool(context, pool, options);
    else context.terminal.out(`deleted ${oneLine(pool.name)} (${pool.id}); its recipients stay\n`);
  });
}
