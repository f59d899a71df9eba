/** `ductor key revoke`. */
import { ApiKey, type RevokeApiKeyResponse } from '../../gen/ductor/v1/tenancy.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';

/** Options of the command. */
export interface RevokeKeyOptions extends ClientOptions {
  readonly reason?: string;
}

/** Runs the command. */
export function revokeKey(context: CliContext, keyId: string, options: RevokeKeyOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { json, reason = '' } = options;
    const { data } = await engine.ask<RevokeApiKeyResponse>((...rest) =>
      engine.tenancy.revokeApiKey({ keyId, reason }, ...rest),
    );
    const key = data ?? ApiKey.fromPartial({});
    const { terminal } = context;
    if (json === true) terminal.out(`${await messageToJson('ApiKey', ApiKey, key)}\n`);
    else terminal.out(`revoked ${key.name} (${key.id}); within 5 seconds no node takes it any more\n`);
  });
}
