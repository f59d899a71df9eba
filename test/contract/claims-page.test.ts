/** docs/claims.md by its own commands: each is run as it stands, and answers what the page prints. */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { claimField } from '../../engine/src/pools/index.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { docsPage } from '../support/docs-page.js';
import { shellCurl } from '../support/shell-curl.js';

const { text: page, commands, printed, only } = docsPage('claims.md');

const database = await createTestDatabase();
const node = await startTestNode(database.db);
afterAll(async () => {
  await node.stop();
  await database.drop();
});
const { apiKey, tenantId } = await node.tenant('acme');
const variables: Record<string, string> = { DUCTOR_API_KEY: apiKey, DUCTOR_TENANT: tenantId };
const done = new Set<string>();

type Data = Record<string, unknown> & { readonly id: string };

/** Runs the one command that holds this text. */
async function run(text: string): Promise<Data> {
  const command = only(text);
  done.add(command);
  const { status, json } = await shellCurl(command, node.address, variables);
  if (status !== 200) throw new RangeError(`${status}: ${JSON.stringify(json)}`);
  return (json as { data: Data }).data;
}

/** What is printed, as a pattern: ids and moments are other ones. */
function patternOf(shown: unknown): object {
  const any = JSON.stringify(shown).replaceAll(/"[0-9a-f]{8}-\.\.\."/g, '"any"');
  return JSON.parse(any, (_, value: unknown) => (value === 'any' ? expect.any(String) : value)) as object;
}

describe('the page about claims', () => {
  it('makes a queue and a pool, routes, lists, claims and releases', async () => {
    const queue = await run('"name": "west-pond"');
    expect({ data: queue }).toMatchObject(patternOf(printed[0]));
    variables['QUEUE_ID'] = queue.id;
    variables['POOL_ID'] = (await run('"name": "west-leads"')).id;
    const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
    const path = `/api/pools/${variables['POOL_ID']}/recipients`;
    const body = JSON.stringify({ name: 'Jordan', state: 'RECIPIENT_STATE_AVAILABLE' });
    const { json } = await httpCall(node.address, { method: 'POST', path, headers, body });
    variables['RECIPIENT_ID'] = (json as { data: Data }).data.id;
    const decision = await run('"id": "lead-901"');
    expect({ data: decision }).toMatchObject(patternOf(printed[1]));
    variables['ITEM_ID'] = String(decision['claim_item_id']);
    expect(await run('/items?state=')).toMatchObject([
      { id: variables['ITEM_ID'], offer: 'CLAIM_OFFER_STATE_OFFERED' },
    ]);
    expect({ data: await run(':claim') }).toMatchObject(patternOf(printed[2]));
    expect(await run(':release')).toMatchObject({ state: 'CLAIM_STATE_OPEN', recipient_id: '' });
    expect(await run('"string_value": "west"')).toMatchObject({ attributes: { team: { string_value: 'west' } } });
    expect(await run('"scope": "team"')).toMatchObject({ config: { claim: { budget: { scope: 'team' } } } });
    expect(await run('"dead_letter"')).toMatchObject({ config: { fallback: { kind: 'dead_letter' } } });
  });

  it('leaves no command out, and no field of config.claim', () => {
    expect(commands.filter((command) => !done.has(command))).toEqual([]);
    for (const field of Object.keys(claimField.shape)) expect(page).toContain(`| \`${field}\``);
    const { budget } = claimField.shape;
    for (const field of Object.keys(budget.unwrap().shape)) expect(page).toContain(`\`${field}`);
  });
});
