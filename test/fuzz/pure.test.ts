/** Inputs from outside that are read without a database: definitions, expressions, answers and calls of apps. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answerProblem } from '../../engine/src/bridge/callback/outcomes.js';
import { readEvent } from '../../engine/src/bridge/callback/caller.js';
import { taskTokens } from '../../engine/src/bridge/token.js';
import { createCelCompiler, toJsonValue, type CelSchema } from '../../engine/src/expressions/index.js';
import { Task, type TaskResult } from '../../engine/src/gen/ductor/v1/bridge.js';
import { InvokeRequest, InvokeResponse } from '../../engine/src/gen/ductor/v1/callback.js';
import { clusterSecret, DuctorError, seededRandom } from '../../engine/src/kernel/index.js';
import { compilePlan, validateDefinition } from '../../engine/src/workflow/definition/index.js';
import { CallbackVerifier } from '../../sdk/src/callback/verify.js';
import { DuctorError as SdkError } from '../../sdk/src/errors.js';
import { ROOT } from '../support/child.js';
import { expectNone, hunt } from './hunt.js';

const cel = createCelCompiler();
const FOLDER = join(ROOT, 'test/fixtures/definitions');
const definitions = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name): unknown => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')));

const EXPRESSIONS = [
  'routable.type == "lead" && routable.attributes.amount >= 1000.0',
  '"vip" in routable.tags || size(routable.tags) > 3',
  'routable.tags.filter(t, t.startsWith("a")).map(t, t + "!")',
  'routable.list.all(x, x > 0) ? [1, 2].exists(y, y == routable.n) : has(routable.missing)',
  'timestamp("2026-01-01T00:00:00Z") + duration("1h30m") > timestamp("2026-01-02T00:00:00Z")',
  '{"a": [1u, -2, 3.5e10], "b": {"c": b"\\x00\\xff"}}.b.c == b"ab"',
  'string(routable.n) + routable.type.matches("^(a+)+$").string() + "\\u00e9\\n"',
  'int("12") % 5 * (3 - -1) / 2 >= 4 && !(false) || null == routable.missing',
  'routable.type.contains("x") && routable["type"].endsWith(r"\\d") && type(1) == int',
];
const SCHEMA: CelSchema = { id: 'fuzz', variables: { routable: 'dyn' } };
const routable = { type: 'lead', attributes: { amount: 12.5 }, tags: ['vip', 'aa'], list: [1, 2, 3], n: 7 };

type InvokeOutcome = NonNullable<TaskResult['outcome']>;
const task = Task.fromPartial({ runId: 'run', path: 'step', attempt: 1, token: Buffer.alloc(24, 7) });

describe('fuzz', { timeout: 600_000 }, () => {
  it('definitions', () => {
    expectNone(
      hunt('definition', {
        make: (mutate) => mutate.json(definitions),
        take(json) {
          const { definition, problems } = validateDefinition(json, cel);
          if ((definition === undefined) !== problems.length > 0) throw new TypeError('valid, and not');
          if (definition === undefined) throw new DuctorError('invalid_argument', 'the definition is refused');
          compilePlan(definition, 1, cel);
        },
      }),
    );
  });

  it('expressions', () => {
    expectNone(
      hunt('expression', {
        make: (mutate) => mutate.text(EXPRESSIONS),
        take: (text) => toJsonValue(cel.compile(text, SCHEMA).evaluate({ routable })),
      }),
    );
  });

  it('answers of apps', () => {
    const answer = (outcome: InvokeOutcome): Buffer => {
      const value = { runId: 'run', path: 'step', attempt: 1, token: task.token, outcome };
      const event = { $case: 'result', value } as const;
      return Buffer.from(InvokeResponse.encode(InvokeResponse.fromPartial({ event })).finish());
    };
    const output = { $case: 'output', value: { data: Buffer.from('{"a":1}'), encoding: 'json' } } as const;
    const error = { code: 'x', message: 'y', stack: '', nonRetryable: false, retryAfterMs: 0, causes: [] };
    const seeds = [answer(output), answer({ $case: 'error', value: error })];
    let genuine = 0;
    const finds = hunt('answer', {
      make: (mutate) => mutate.bytes(seeds),
      take(bytes) {
        const event = readEvent(bytes);
        if (event.$case === 'heartbeat') return;
        const problem = answerProblem(task, event);
        if (problem !== null) throw new DuctorError('callback_invalid', problem);
        genuine += 1;
      },
    });
    expectNone(finds);
    expect(genuine).toBeGreaterThan(0);
  });

  it('signed calls to apps: none that was changed is taken', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key = `whpk_${publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`;
    const body = Buffer.from(InvokeRequest.encode(InvokeRequest.fromPartial({ audience: 'app', task })).finish());
    const [id, atS] = ['id-1', 1_800_000_000];
    const signature = sign(null, Buffer.concat([Buffer.from(`${id}.${atS}.`), body]), privateKey).toString('base64');
    const genuine = [id, String(atS), `v1a,${signature}`, body.toString('base64')];
    const finds = hunt('call', {
      make: (mutate) => {
        const at = mutate.below(genuine.length + 1);
        return genuine.map((part, index) => {
          if (index !== at) return part;
          return at === 3 ? mutate.bytes([body]).toString('base64') : mutate.text([part]);
        });
      },
      take(parts) {
        const [webhookId = '', webhookTimestamp = '', webhookSignature = '', bytes = ''] = parts;
        const headers: Readonly<Record<string, string>> = {
          'webhook-id': webhookId,
          'webhook-timestamp': webhookTimestamp,
          'webhook-signature': webhookSignature,
        };
        const by = new CallbackVerifier({ keys: [key], audience: 'app', now: () => atS * 1_000 });
        by.verify((name) => [headers[name] ?? ''], Buffer.from(bytes, 'base64'));
        // Only the signature may be written in another way: spaces around it, or others beside it.
        const isSame = webhookId === id && webhookTimestamp === String(atS) && bytes === genuine[3];
        if (!isSame) throw new TypeError('a changed call was taken');
      },
      mayThrow: (error) => error instanceof SdkError && error.code !== 'internal',
    });
    expectNone(finds);
  });

  it('tokens of attempts: none that was changed is genuine', () => {
    const tokens = taskTokens(clusterSecret('a secret of thirty-two bytes or more'), seededRandom(3));
    const ref = { tenantId: 't', runId: 'r', path: 'a.b', attempt: 2 };
    const token = tokens.issue(ref);
    const finds = hunt('token', {
      make: (mutate) => ({ token: mutate.bytes([token]), path: mutate.below(3) === 0 ? mutate.text(['a.b']) : 'a.b' }),
      take(input) {
        const isGenuine = tokens.isGenuine({ ...ref, path: input.path }, input.token);
        const isSame = input.path === 'a.b' && input.token.equals(token);
        if (isGenuine !== isSame) throw new TypeError(`genuine: ${String(isGenuine)}`);
        if (!isGenuine) throw new DuctorError('unauthenticated', 'another token');
      },
    });
    expectNone(finds);
  });
});
