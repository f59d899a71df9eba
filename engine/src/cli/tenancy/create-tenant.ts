/** `ductor tenant create`. */
import { CreateTenantRequest, CreateTenantResponse } from '../../gen/ductor/v1/tenancy.js';
import { formatDurationMs } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { showNewKey } from './show-key.js';

/** Options of the command. */
export interface CreateTenantOptions extends ClientOptions {
  readonly keyName?: string;
  readonly scope?: readonly string[];
  /** Milliseconds. */
  readonly retention?: number;
}

/** Runs the command. */
export function createTenant(context: CliContext, slug: string, options: CreateTenantOptions): Promise<void> {
  const { json, keyName = '', scope = [] } = options;
  const retention = options.retention === undefined ? '' : formatDurationMs(options.retention);
  return withEngine(context, options, async (engine) => {
    const request = CreateTenantRequest.fromPartial({ slug, keyName, scopes: [...scope], retention });
    const made = await engine.ask<CreateTenantResponse>((...rest) => engine.tenancy.createTenant(request, ...rest));
    const { terminal } = context;
    if (json === true) {
      terminal.out(`${await messageToJson('CreateTenantResponse', CreateTenantResponse, made)}\n`);
      return;
    }
    terminal.err(`tenant ${slug} (${made.data?.id ?? ''})\n`);
    showNewKey(terminal, made.firstKey);
  });
}
