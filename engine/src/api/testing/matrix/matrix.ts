/**
 * The authorisation matrix: every method of the descriptors with every kind of key and of id, through a door. What is
 * to be expected comes from the permission table alone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonFields } from '../../json/check-message.js';
import type { TestNode } from '../../grpc/testing/test-node.js';
import { MATRIX_METHODS, type MatrixMethod } from './methods.js';
import type { Ids } from './requests.js';
import { KEY_KINDS, matrixWorld, type IdKind, type KeyKind, type MatrixWorld } from './world.js';

/** What came of a call. */
export interface MatrixAnswer {
  /** "ok", or the code of the error catalogue. */
  readonly code: string;
  /** Everything else that a caller can tell answers apart by: status, headers that vary, body. */
  readonly body: string;
}

/** A door, as the matrix needs it. */
export interface MatrixDoor {
  /** For the names of the tests; lower case letters. */
  readonly name: string;
  /** Whether it has the method. */
  has(method: MatrixMethod): boolean;
  /** Calls the method and takes what comes until it ends or has answered once. */
  call(address: string, method: MatrixMethod, apiKey: string | null, request: JsonFields): Promise<MatrixAnswer>;
  /** Ends its connections. */
  close(): void;
}

const ID_KINDS: readonly IdKind[] = ['own', 'foreign', 'missing'];
const REFUSED: readonly KeyKind[] = ['none', 'garbage', 'bad checksum', 'unknown', 'expired', 'revoked'];
const TIMED_CALLS = 15;

/** The code of a cell. */
function expectedCode({ namesObject, answer = 'ok' }: MatrixMethod, key: KeyKind, id: IdKind): string {
  if (REFUSED.includes(key)) return 'unauthenticated';
  if (key === 'lower') return 'permission_denied';
  if (namesObject !== true) return answer;
  return id === (key === 'own' ? 'own' : 'foreign') ? answer : 'not_found';
}

/** The answer with the ids that were asked for taken out, and with what differs between any two answers. */
function masked({ body }: MatrixAnswer, ids: Ids): string {
  return Object.values<string>({ ...ids }).reduce((text, id) => text.replaceAll(id, 'X'), body);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * Registers the tests of a door.
 *
 * @param node the running node; read once beforeAll has run
 */
export function describeMatrix(door: MatrixDoor, node: () => TestNode): void {
  let world: MatrixWorld;
  const ask = async (method: MatrixMethod, key: KeyKind, ids: Ids): Promise<MatrixAnswer> =>
    door.call(node().address, method, await world.key(key, method), method.request(ids));

  describe(`the matrix by ${door.name}`, () => {
    beforeAll(async () => {
      world = await matrixWorld(node(), door.name);
    });
    afterAll(() => {
      world.close();
      door.close();
    });
    const methods = MATRIX_METHODS.filter((method) => door.has(method));

    // First: later the audit trail tells, rightly, which ids this key has asked for in vain.
    it('keeps what the other tenant made out of its lists', async () => {
      const theirs = await world.ids('foreign');
      for (const method of methods.filter(({ name }) => /\/List(?!Tenants)/.test(name))) {
        const { code, body } = await ask(method, 'own', await world.ids('own'));
        expect(code).toBe('ok');
        for (const id of Object.values<string>({ ...theirs })) expect(body).not.toContain(id);
      }
    });

    it.each(methods)('$name answers every key and id as the table says', async (method) => {
      const found: [string, string][] = [];
      const expected: [string, string][] = [];
      for (const key of KEY_KINDS) {
        for (const id of ID_KINDS) {
          const { code } = await ask(method, key, await world.ids(id, method));
          found.push([`${key} key, ${id} id`, code]);
          expected.push([`${key} key, ${id} id`, expectedCode(method, key, id)]);
        }
      }
      expect(found).toEqual(expected);
    });

    it.each(methods.filter(({ namesObject }) => namesObject !== false))(
      '$name tells nobody a foreign object from a missing one',
      async (method) => {
        const [foreign, missing] = [await world.ids('foreign', method), await world.ids('missing')];
        const [atForeign, atMissing] = [await ask(method, 'own', foreign), await ask(method, 'own', missing)];
        expect(masked(atForeign, foreign)).toBe(masked(atMissing, missing));
        expect(atForeign.code).toBe(atMissing.code);
        const took: Record<'foreign' | 'missing', number[]> = { foreign: [], missing: [] };
        for (let round = 0; round < TIMED_CALLS; round += 1) {
          for (const [kind, ids] of [['foreign', foreign] as const, ['missing', missing] as const]) {
            const beganMs = performance.now();
            await ask(method, 'own', ids);
            took[kind].push(performance.now() - beganMs);
          }
        }
        const [one, two] = [median(took.foreign), median(took.missing)];
        // As wide as a busy machine needs it: what must not show is a query more or less, not a microsecond.
        expect(Math.abs(one - two), `${one} ms and ${two} ms`).toBeLessThan(Math.max(10, Math.min(one, two)));
      },
    );
  });
}
