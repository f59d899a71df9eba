/** `ductor key create`: by an engine, or the first one of a database. */
import { CreateApiKeyRequest, NewApiKey, type CreateApiKeyResponse } from '../../gen/ductor/v1/tenancy.js';
import { DuctorError } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { showNewKey } from './show-key.js';

/** Options of the command. */
export interface CreateKeyOptions extends ClientOptions {
  readonly scope?: readonly string[];
  readonly expiresIn?: string;
  readonly bootstrap?: boolean;
  readonly tenant?: string;
}

function refuse(message: string, remedy: string): never {
  throw new DuctorError('invalid_argument', message, { remedy });
}

/** Runs the command. */
export async function createKey(
  context: CliContext,
  name: string | undefined,
  options: CreateKeyOptions,
): Promise<void> {
  if (options.bootstrap === true) {
    if (options.scope !== undefined || options.expiresIn !== undefined) {
      refuse('--bootstrap takes no scopes and no end', 'Leave them out: make lesser keys with the one you get.');
    }
    const { bootstrapKey } = await import('./bootstrap-key.js');
    await bootstrapKey(context, { slug: options.tenant ?? 'operator', name: name ?? 'operator' }, options);
    return;
  }
  if (options.tenant !== undefined) {
    refuse('--tenant goes with --bootstrap only', 'A key is of the tenant of the key in use (DUCTOR_API_KEY).');
  }
  if (name === undefined) refuse('the key has no name', 'Write `ductor key create NAME --scope SCOPE`.');
  if (options.scope === undefined) refuse('the key would have no scope', 'Name what it may do: --scope run:read.');
  const { scope, expiresIn = '' } = options;
  await withEngine(context, options, async (engine) => {
    const request = CreateApiKeyRequest.fromPartial({ name, scopes: [...scope], expiresIn });
    const { data } = await engine.ask<CreateApiKeyResponse>((...rest) => engine.tenancy.createApiKey(request, ...rest));
    const { terminal } = context;
    if (options.json === true) {
      terminal.out(`${await messageToJson('NewApiKey', NewApiKey, data ?? NewApiKey.fromPartial({}))}\n`);
    } else showNewKey(terminal, data);
  });
}
