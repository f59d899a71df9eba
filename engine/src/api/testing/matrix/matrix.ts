/**
 * The authorisation matrix: every method of the descriptors with every kind of key and of id, through a door. What is
 * to be expected comes from the permission table alone.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonFields } from '../../json/check-message.js';
import type { TestNode } from '../../grpc/testing/test-node.js';
import { MATRIX_METHODS, type MatrixMethod } from './methods.js';
import { nestedRequests } from './nested.js';
import { slower } from './slower.js';
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
  /** Whether its answers are texts that can be compared but for ids and moments in them. */
  readonly isText: boolean;
  /** Whether it has the method. */
  has(method: MatrixMethod): boolean;
  /** Calls the method and takes what comes until it ends or has answered once. */
  call(address: string, method: MatrixMethod, apiKey: string | null, request: JsonFields): Promise<MatrixAnswer>;
  /** Ends its connections. */
  close(): void;
}

/** What to leave out. */
export interface MatrixOptions {
  /** Whether it is measured how long answers take. Default true. */
  readonly isTimed?: boolean;
}

const ID_KINDS: readonly IdKind[] = ['own', 'foreign', 'missing'];
const REFUSED: readonly KeyKind[] = ['none', 'garbage', 'bad checksum', 'unknown', 'expired', 'revoked'];

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

/** The same without what is new in each answer: ids that were made for it, names of objects, moments, digests. */
function timeless(answer: MatrixAnswer, ids: Ids): string {
  return masked(answer, ids)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'U')
    .replaceAll(/\b(made|named|member|yearly)-\d+/g, 'N')
    .replaceAll(/("confirmation\\":\\")[^"\\]*/g, '$1C')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');
}

const hasNested = (method: MatrixMethod): boolean => nestedRequests(method).length > 0;

/** Puts foreign ids and ids of nothing in every place of the request that takes one; the answers must be the same. */
async function expectSameAtAnyDepth(
  door: MatrixDoor,
  address: string,
  world: MatrixWorld,
  method: MatrixMethod,
): Promise<void> {
  const others = { foreign: await world.ids('foreign'), missing: await world.ids('unheard') };
  const key = await world.key('own', method);
  for (const nested of nestedRequests(method)) {
    const say = async (other: Ids): Promise<readonly string[]> => {
      const own = await world.ids('own', method);
      const answer = await door.call(address, method, key, nested.request(own, other));
      // Answers in binary that are no errors have lengths in them, and moments.
      const isText = door.isText || answer.code !== 'ok';
      return [nested.path, answer.code, isText ? timeless(answer, other) : ''];
    };
    expect(await say(others.foreign)).toEqual(await say(others.missing));
  }
}

/** Registers the tests of how long answers take. */
function describeTimes(
  methods: readonly MatrixMethod[],
  ask: (method: MatrixMethod, key: KeyKind, ids: Ids) => Promise<MatrixAnswer>,
  idsOf: MatrixWorld['ids'],
): void {
  it.each([...methods])('$name takes as long for a foreign object as for a missing one', async (method) => {
    const timed = (ids: Ids) => async (): Promise<number> => {
      const beganMs = performance.now();
      await ask(method, 'own', ids);
      return performance.now() - beganMs;
    };
    const [foreign, missing] = [await idsOf('foreign', method), await idsOf('missing')];
    expect(await slower(timed(foreign), timed(missing))).toBe('neither');
  });
}

/**
 * Registers the tests of a door.
 *
 * @param node the running node; read once beforeAll has run
 */
export function describeMatrix(door: MatrixDoor, node: () => TestNode, options: MatrixOptions = {}): void {
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

    const naming = methods.filter(({ namesObject }) => namesObject !== false);
    it.each(naming)('$name tells nobody a foreign object from a missing one', async (method) => {
      const [foreign, missing] = [await world.ids('foreign', method), await world.ids('missing')];
      const [atForeign, atMissing] = [await ask(method, 'own', foreign), await ask(method, 'own', missing)];
      expect(masked(atForeign, foreign)).toBe(masked(atMissing, missing));
      expect(atForeign.code).toBe(atMissing.code);
    });

    if (options.isTimed !== false) describeTimes(naming, ask, (kind, method) => world.ids(kind, method));

    it.each(methods.map((method) => ({ name: method.name, method })).filter(({ method }) => hasNested(method)))(
      '$name tells nobody a foreign id from a missing one at any depth',
      ({ method }) => expectSameAtAnyDepth(door, node().address, world, method),
    );
  });
}
