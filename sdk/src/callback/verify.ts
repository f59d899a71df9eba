/**
 * Whether a call comes from the engine and is meant for this app: the form of Standard Webhooks with Ed25519.
 *
 * What is signed: ID.TIMESTAMP.BODY, byte for byte. The body names the audience and holds the attempt with its token.
 * A call is refused when a header is missing or there twice, the timestamp is more than five minutes off, no key
 * verifies a signature, the id was there before, or the audience is another one. In this order, so that nothing
 * unsigned is remembered or read.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { InvokeRequest } from '../gen/ductor/v1/callback.js';
import type { Task } from '../gen/ductor/v1/bridge.js';
import type { StrategyQuestion } from '../gen/ductor/v1/strategy.js';
import { DuctorError } from '../errors.js';
import { noKeys } from './development.js';
import { SeenIds } from './seen-ids.js';

/** How calls are verified. */
export interface VerifyOptions {
  /** Keys as the engine shows them, `whpk_…`; one that matches is enough. 'unsigned': nothing is verified. */
  readonly keys: readonly string[] | 'unsigned';
  /** Whom calls must be meant for; undefined: the key alone says so, each endpoint has its own. */
  readonly audience: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Values of a header by its name in lower case: none, one, or several. */
export type HeaderValues = (name: string) => readonly string[];

/** A call that was verified: an attempt to run, or a strategy to ask. */
export type VerifiedCall = { readonly task: Task } | { readonly question: StrategyQuestion };

/** How far the clocks of engine and app may be apart, and how old a call may be. */
const TOLERANCE_MS = 300_000;
const KEY_PREFIX = 'whpk_';
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const MAX_SIGNATURES = 8;

function refused(why: string): DuctorError {
  return new DuctorError('unauthenticated', `the call is refused: ${why}`);
}

/** Reads a key. Throws DuctorError invalid_argument. */
function readKey(text: string): KeyObject {
  const bytes = Buffer.from(text.slice(KEY_PREFIX.length), 'base64');
  if (text !== `${KEY_PREFIX}${bytes.toString('base64')}` || bytes.length !== KEY_BYTES) {
    throw new DuctorError('invalid_argument', 'a signing key is not "whpk_" and 32 bytes in base64', {
      remedy: 'take it from `ductor endpoint show`',
    });
  }
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' });
}

function single(headers: HeaderValues, name: string): string {
  const [value, ...more] = headers(name);
  if (value === undefined || value === '') throw refused(`it has no ${name}`);
  if (more.length > 0) throw refused(`it has ${name} more than once`);
  return value;
}

/** Verifies calls; keeps the ids it has seen. */
export class CallbackVerifier {
  /** null: nothing is verified. */
  readonly #keys: readonly KeyObject[] | null;
  readonly #options: VerifyOptions;
  readonly #seen = new SeenIds();

  /** Throws DuctorError invalid_argument for no key, and for one that is none. */
  constructor(options: VerifyOptions) {
    const { keys } = options;
    if (keys.length === 0) throw noKeys();
    this.#options = options;
    this.#keys = keys === 'unsigned' ? null : keys.map(readKey);
  }

  /** The call, verified. Throws DuctorError unauthenticated, invalid_argument. */
  verify(headers: HeaderValues, body: Buffer): VerifiedCall {
    if (this.#keys !== null) this.#checkSignature(this.#keys, headers, body);
    const { audience, task, strategyQuestion: question } = decode(body);
    const { audience: own } = this.#options;
    if (own !== undefined && audience !== own) throw refused('it is meant for another audience');
    if (task !== undefined) return { task };
    if (question !== undefined) return { question };
    throw new DuctorError('invalid_argument', 'the call carries neither a task nor a question');
  }

  #checkSignature(keys: readonly KeyObject[], headers: HeaderValues, body: Buffer): void {
    const id = single(headers, 'webhook-id');
    const timestamp = single(headers, 'webhook-timestamp');
    const signatures = single(headers, 'webhook-signature');
    if (!/^[\w-]{1,64}$/.test(id)) throw refused('its webhook-id is malformed');
    if (!/^\d{1,12}$/.test(timestamp)) throw refused('its webhook-timestamp is malformed');
    const sentMs = Number(timestamp) * 1_000;
    const now = this.#options.now();
    if (Math.abs(now - sentMs) > TOLERANCE_MS) throw refused('its webhook-timestamp is more than 5 minutes off');
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`, 'utf8'), body]);
    if (!isSigned(keys, signed, signatures)) throw refused('its signature is not of the engine');
    if (!this.#seen.add(id, sentMs + TOLERANCE_MS, now)) throw refused('its webhook-id was there before');
  }
}

function isSigned(keys: readonly KeyObject[], signed: Buffer, header: string): boolean {
  const signatures = header.split(' ').slice(0, MAX_SIGNATURES);
  return signatures.some((text) => {
    const [version, encoded = ''] = text.split(',', 2);
    const signature = Buffer.from(encoded, 'base64');
    if (version !== 'v1a' || signature.length !== SIGNATURE_BYTES) return false;
    return keys.some((key) => verify(null, signed, key, signature));
  });
}

function decode(body: Buffer): InvokeRequest {
  try {
    return InvokeRequest.decode(body);
  } catch (error) {
    throw new DuctorError('invalid_argument', 'the call is no InvokeRequest', { cause: error });
  }
}
