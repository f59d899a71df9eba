import { format, inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret-value.js';

const TEXT = 'hunter2';

it.each([
  ['template', (secret: Secret) => `${secret.toString()}`],
  ['concatenation', (secret: Secret) => 'x' + String(secret)],
  ['JSON', (secret: Secret) => JSON.stringify({ secret })],
  ['inspect', (secret: Secret) => inspect({ secret }, { showHidden: true, depth: 9 })],
  ['format', (secret: Secret) => format('%s %o %O %j', secret, secret, secret, secret)],
  ['spread', (secret: Secret) => JSON.stringify({ ...secret, keys: Reflect.ownKeys(secret) })],
])('does not print by %s', (_, print) => {
  expect(print(new Secret(TEXT))).not.toContain(TEXT);
});

it('gives itself away when asked', () => {
  expect(new Secret(TEXT).reveal()).toBe(TEXT);
});
