/** `ductor key …` and `ductor tenant …`. */
import { type Command, InvalidArgumentError } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { duration, wholeNumber } from '../options.js';
import { createKey, type CreateKeyOptions } from './create-key.js';
import { createTenant, type CreateTenantOptions } from './create-tenant.js';
import { listKeys, listTenants } from './list.js';
import { revokeKey, type RevokeKeyOptions } from './revoke-key.js';

const MAX_PAGE = 200;

/** One scope more; a comma may stand between several. */
function scopes(text: string, known: readonly string[] = []): readonly string[] {
  const named = text.split(',').map((scope) => scope.trim());
  if (named.includes('')) throw new InvalidArgumentError(`${JSON.stringify(text)} names no scope.`);
  return [...known, ...named];
}

/** Adds the commands. */
export function tenancyCommands(root: Command, context: CliContext): void {
  keyCommands(root, context);
  const group = root.command('tenant').description('make and list tenants (needs a key with the scope tenant:admin)');
  clientCommand(group, {
    usage: 'create <slug>',
    summary: 'make a tenant and its first key, which is printed once',
    examples: [
      ['ductor tenant create acme', 'its key may do everything the key in use may, but make tenants'],
      ['ductor tenant create acme --scope key:write,run:read --key-name ops', 'its key may do less'],
    ],
  })
    .option('--key-name <name>', 'name of its first key (default: admin)')
    .option('--scope <scope>', 'scope of its first key; may be given more than once', scopes)
    .option(
      '--retention <duration>',
      'how long its runs are kept after their end (1m to 3650d; default: 30d)',
      duration,
    )
    .action((slug: string, options: CreateTenantOptions) => createTenant(context, slug, options));
  clientCommand(group, {
    usage: 'list',
    summary: 'list tenants by slug',
    examples: [['ductor tenant list', 'all tenants of the engine']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, MAX_PAGE), MAX_PAGE)
    .action((options: ClientOptions & { readonly limit: number }) => listTenants(context, options));
}

function keyCommands(root: Command, context: CliContext): void {
  const group = root.command('key').description('make, list and revoke API keys of the tenant of the key in use');
  clientCommand(group, {
    usage: 'create [name]',
    summary: 'make a key and print it: it is shown this once and kept nowhere',
    examples: [
      ['ductor key create ci --scope run:write,run:read --expires-in 90d', 'a key that can start and read runs'],
      ['ductor key create worker --scope bridge:work', 'a key for workers'],
      ['ductor key create --bootstrap', 'the first operator key of a new database, by DATABASE_URL and DUCTOR_SECRET'],
    ],
  })
    .option('--scope <scope>', 'what the key may do; may be given more than once', scopes)
    .option('--expires-in <duration>', 'how long it lives, for example 90d (default: until it is revoked)')
    .option('--bootstrap', 'make the first key of a new database, with every scope; no engine needs to run')
    .option('--tenant <slug>', 'with --bootstrap: the tenant of the key (default: operator)')
    .action((name: string | undefined, options: CreateKeyOptions) => createKey(context, name, options));
  clientCommand(group, {
    usage: 'list',
    summary: 'list keys, newest first: what they may do, when they were used last; never the keys themselves',
    examples: [['ductor key list --json', 'the same as GET /api/api-keys']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, MAX_PAGE), MAX_PAGE)
    .action((options: ClientOptions & { readonly limit: number }) => listKeys(context, options));
  clientCommand(group, {
    usage: 'revoke <key-id>',
    summary: 'end a key, on every node within 5 seconds',
    examples: [['ductor key revoke 0190… --reason "found in a log"', 'the reason stands in the audit trail']],
  })
    .option('--reason <text>', 'why, for the audit trail')
    .action((keyId: string, options: RevokeKeyOptions) => revokeKey(context, keyId, options));
}
