/** `ductor key list`, `ductor tenant list`. */
import { type ApiKey, ListApiKeysResponse, ListTenantsResponse } from '../../gen/ductor/v1/tenancy.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { type Cell, table } from '../output/table.js';
import { distanceText, momentText, usOf } from '../output/times.js';

/** Options of the commands. */
export interface ListOptions extends ClientOptions {
  readonly limit: number;
}

/** Whether a key works now, and until when. */
function stateOf({ revokedAt, expiresAt }: ApiKey, nowUs: number): Cell {
  if (revokedAt !== undefined) return { text: 'revoked', tone: 'bad' };
  const endUs = usOf(expiresAt);
  if (endUs === null) return { text: 'live', tone: 'good' };
  if (endUs <= nowUs) return { text: 'expired', tone: 'warning' };
  return { text: `ends ${distanceText(endUs, nowUs)}`, tone: 'good' };
}

function sayMore(context: CliContext, shown: number, nextCursor: string | undefined): void {
  if ((nextCursor ?? '') !== '') context.terminal.err(`(the first ${shown}; the API has the rest)\n`);
}

/** Lists keys. */
export function listKeys(context: CliContext, options: ListOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const pagination = { pageSize: options.limit, cursor: '', nextCursor: '' };
    const page = await engine.ask<ListApiKeysResponse>((...rest) =>
      engine.tenancy.listApiKeys({ pagination }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListApiKeysResponse', ListApiKeysResponse, page)}\n`);
      return;
    }
    const nowUs = clock.nowUs();
    const rows = page.data.map((key) => {
      const usedUs = usOf(key.lastUsedAt);
      const used = usedUs === null ? { text: 'never', tone: 'quiet' as const } : distanceText(usedUs, nowUs);
      return [key.id, key.name, stateOf(key, nowUs), used, key.scopes.join(' ')];
    });
    terminal.out(table(terminal, ['KEY', 'NAME', 'STATE', 'USED', 'SCOPES'], rows));
    sayMore(context, page.data.length, page.pagination?.nextCursor);
  });
}

/** Lists tenants. */
export function listTenants(context: CliContext, options: ListOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const pagination = { pageSize: options.limit, cursor: '', nextCursor: '' };
    const page = await engine.ask<ListTenantsResponse>((...rest) =>
      engine.tenancy.listTenants({ pagination }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListTenantsResponse', ListTenantsResponse, page)}\n`);
      return;
    }
    const rows = page.data.map(({ slug, id, createdAt, retention }) => [
      ...[slug, id, momentText(usOf(createdAt))],
      retention,
    ]);
    terminal.out(table(terminal, ['TENANT', 'ID', 'CREATED', 'RETENTION'], rows));
    sayMore(context, page.data.length, page.pagination?.nextCursor);
  });
}
