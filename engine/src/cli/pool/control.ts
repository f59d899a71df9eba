/** `ductor pool enable`, `disable` and `delete`. */
import type { DeletePoolResponse, SetPoolEnabledResponse } from '../../gen/ductor/v1/pool.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
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
