import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { InvokeRequest } from '../gen/ductor/v1/callback.js';
import { DuctorError } from '../errors.js';
import { CallbackVerifier, type HeaderValues, type VerifyOptions } from './verify.js';

const NOW_S = 1_800_000_000;
const AUDIENCE = 'https://app.example.com/callbacks';
const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

function pair(): { readonly secret: KeyObject; readonly text: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  return { secret: privateKey, text: `whpk_${spki.subarray(-32).toString('base64')}` };
}
const KEY = pair();
const OTHER = pair();

const task = { runId: 'run', path: 'step', attempt: 1, token: Buffer.from('token') };
const bodyFor = (audience = AUDIENCE): Buffer =>
  Buffer.from(InvokeRequest.encode(InvokeRequest.fromPartial({ audience, endpointId: 'e', task })).finish());

interface Signed {
  readonly headers: Record<string, readonly string[]>;
  readonly body: Buffer;
}

/** A call as the engine signs it. */
function signed({ id = 'id-1', atS = NOW_S, key = KEY.secret, body = bodyFor() } = {}): Signed {
  const bytes = Buffer.concat([Buffer.from(`${id}.${atS}.`), body]);
  const signature = `v1a,${sign(null, bytes, key).toString('base64')}`;
  return {
    headers: { 'webhook-id': [id], 'webhook-timestamp': [String(atS)], 'webhook-signature': [signature] },
    body,
  };
}

function verifier(options: Partial<VerifyOptions> = {}): CallbackVerifier {
  return new CallbackVerifier({ keys: [KEY.text], audience: AUDIENCE, now: () => NOW_S * 1_000, ...options });
}

const valuesOf =
  (headers: Signed['headers']): HeaderValues =>
  (name) =>
    headers[name] ?? [];

/** What came of it: the run, or why it was refused. */
function outcome(call: Signed, by = verifier()): string {
  try {
    const verified = by.verify(valuesOf(call.headers), call.body);
    return 'task' in verified ? verified.task.runId : 'a question';
  } catch (error) {
    return error instanceof DuctorError ? `${error.code}: ${error.message}` : String(error);
  }
}

describe('a call of the engine', () => {
  it('is taken, once', () => {
    const by = verifier();
    expect(outcome(signed(), by)).toBe('run');
    expect(outcome(signed(), by)).toMatch(/unauthenticated: .*there before/);
    expect(outcome(signed({ id: 'id-2' }), by)).toBe('run');
  });

  it('is refused when any bit of its body is flipped', () => {
    const { headers, body } = signed();
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const bent = Buffer.from(body);
      bent.writeUInt8(bent.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect([bit, outcome({ headers, body: bent })]).toEqual([bit, expect.stringMatching(/^unauthenticated/)]);
    }
    for (const cut of [body.subarray(1), body.subarray(0, -1), Buffer.alloc(0), Buffer.concat([body, body])]) {
      expect(outcome({ headers, body: cut })).toMatch(/^unauthenticated/);
    }
  });

  it('is refused when a character of a header is another one', () => {
    const { headers, body } = signed();
    for (const name of NAMES) {
      const text = headers[name]?.[0] ?? '';
      // The last two characters of the signature hold bits that base64 does not use.
      const length = name === 'webhook-signature' ? text.length - 3 : text.length;
      for (let at = 0; at < length; at += 1) {
        const other = text[at] === '7' ? '8' : '7';
        const bent = { ...headers, [name]: [text.slice(0, at) + other + text.slice(at + 1)] };
        expect([name, at, outcome({ headers: bent, body })]).toEqual([name, at, expect.stringMatching(/^unauthent/)]);
      }
    }
  });

  it('is refused when a header is missing, empty or there twice', () => {
    const { headers, body } = signed();
    for (const name of NAMES) {
      const [value = ''] = headers[name] ?? [];
      for (const values of [[], [''], [value, value]]) {
        const answer = outcome({ headers: { ...headers, [name]: values }, body });
        expect(answer).toMatch(new RegExp(`^unauthenticated: .*${name}`));
      }
    }
  });

  it('is refused when it is more than five minutes old, or comes from the future', () => {
    for (const [offS, answer] of [
      [-300, 'run'],
      [300, 'run'],
      [-301, 'unauthenticated'],
      [301, 'unauthenticated'],
      [-86_400, 'unauthenticated'],
    ] as const) {
      expect(outcome(signed({ atS: NOW_S + offS }))).toMatch(new RegExp(`^${answer}`));
    }
  });

  it('is refused when another key signed it, and taken when one of several keys and signatures fits', () => {
    expect(outcome(signed({ key: OTHER.secret }))).toMatch(/^unauthenticated: .*signature/);
    expect(outcome(signed({ key: OTHER.secret }), verifier({ keys: [KEY.text, OTHER.text] }))).toBe('run');
    const [mine, others] = [signed(), signed({ key: OTHER.secret })];
    const both = [`${others.headers['webhook-signature']?.[0]} ${mine.headers['webhook-signature']?.[0]}`];
    expect(outcome({ ...mine, headers: { ...mine.headers, 'webhook-signature': both } })).toBe('run');
  });

  it('is refused in other forms of signature', () => {
    const { headers, body } = signed();
    const text = headers['webhook-signature']?.[0]?.slice(4) ?? '';
    for (const other of [text, `v1,${text}`, `v1a,`, `v1a,${text.slice(0, 40)}`, `v2a,${text}`, 'none', ',,,']) {
      expect(outcome({ headers: { ...headers, 'webhook-signature': [other] }, body })).toMatch(/^unauthenticated/);
    }
  });

  it('is refused when it is meant for another audience', () => {
    const call = signed({ body: bodyFor('https://other.example.com/callbacks') });
    expect(outcome(call)).toMatch(/^unauthenticated: .*audience/);
    expect(outcome(call, verifier({ audience: undefined }))).toBe('run');
  });

  it('is refused when it holds no task, or nothing that can be read', () => {
    const empty = Buffer.from(InvokeRequest.encode(InvokeRequest.fromPartial({ audience: AUDIENCE })).finish());
    expect(outcome(signed({ body: empty }))).toMatch(/^invalid_argument/);
    expect(outcome(signed({ body: Buffer.from([255, 255]) }))).toMatch(/^invalid_argument/);
  });

  it('leaves no trace when it is refused: the id can still be used by the engine', () => {
    const by = verifier();
    expect(outcome(signed({ key: OTHER.secret }), by)).toMatch(/^unauthenticated/);
    expect(outcome(signed(), by)).toBe('run');
  });

  it('is remembered for as long as its timestamp would be accepted', () => {
    let nowS = NOW_S;
    const by = verifier({ now: () => nowS * 1_000 });
    const early = signed({ atS: NOW_S + 300 });
    expect(outcome(early, by)).toBe('run');
    for (nowS of [NOW_S + 1, NOW_S + 300, NOW_S + 600]) {
      expect(outcome(early, by)).toMatch(/there before/);
      expect(outcome(signed({ id: `other-${nowS}`, atS: nowS }), by)).toBe('run');
    }
    nowS = NOW_S + 601;
    expect(outcome(early, by)).toMatch(/5 minutes/);
  });
});

describe('keys', () => {
  it('are needed, and must be keys', () => {
    expect(() => verifier({ keys: [] })).toThrow(/no key to verify/);
    for (const key of ['', 'whpk_', 'whpk_AAAA', KEY.text.slice(5), `whsk_${KEY.text.slice(5)}`, `${KEY.text}AAAA`]) {
      expect(() => verifier({ keys: [key] })).toThrow(/not "whpk_" and 32 bytes/);
    }
  });
});
