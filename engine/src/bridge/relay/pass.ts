/**
 * What a node shows another one to lend it a worker:
 *
 *   tenant.sender.receiver.time.nonce.MAC, the MAC under a key that both derive from the cluster's secret
 *
 * Nobody is let in who has none: default deny. A pass counts for one tenant, one sender, one receiver, PASS_MS around
 * its time, and once: its nonce is remembered for as long as its time would be accepted.
 */
import { DuctorError, equalBytes, hmacSha256, isUuid, type ClusterSecret, type Random } from '../../kernel/index.js';

/** Whom a pass is for. */
export interface PassFacts {
  readonly tenantId: string;
  /** Id of the node that lends. */
  readonly sender: string;
  /** Id of the node that has tasks. */
  readonly receiver: string;
}

/** Makes and checks passes. */
export interface RelayPasses {
  /** @param nowUs database time, microseconds since 1970 */
  issue(facts: PassFacts, nowUs: number): string;
  /**
   * Whose pass it is. Throws unauthenticated unless it is genuine, meant for this node, of now, and new.
   *
   * @param text undefined: none was shown
   * @param receiver the id of this node; null: it is no member of the cluster now
   */
  check(text: string | undefined, receiver: string | null, nowUs: number): PassFacts;
}

const PURPOSE = 'ductor/relay-pass/v1';
/** How far the time of a pass may be from now, ms; nodes estimate the time of one database. */
export const PASS_MS = 30_000;
const NONCE_BYTES = 16;
/** Passes remembered; beyond, none is accepted until older ones are out of their time. */
const MAX_REMEMBERED = 50_000;

const refused = (why: string): DuctorError => new DuctorError('unauthenticated', `the pass of the node ${why}`);

/** Passes under this cluster secret; those of the previous secret are accepted during a rotation. */
export function relayPasses(secret: ClusterSecret, random: Random): RelayPasses {
  const keys = secret.keysFor(PURPOSE);
  /** Nonces by when they may be forgotten, oldest first. */
  const seen = new Map<string, number>();
  const forget = (nowUs: number): void => {
    for (const [nonce, untilUs] of seen) {
      if (untilUs >= nowUs) break;
      seen.delete(nonce);
    }
  };
  return {
    issue({ tenantId, sender, receiver }, nowUs) {
      const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
      const signed = [tenantId, sender, receiver, String(Math.floor(nowUs)), nonce].join('.');
      return `${signed}.${hmacSha256(keys[0], signed).toString('hex')}`;
    },
    check(text, receiver, nowUs) {
      if (text === undefined) throw refused('is missing');
      const [tenantId = '', sender = '', named = '', at = '', nonce = '', mac = '', ...more] = text.split('.');
      const isShaped = isUuid(tenantId) && isUuid(sender) && isUuid(named) && /^\d{1,16}$/.test(at);
      if (!isShaped || !/^[0-9a-f]{32}$/.test(nonce) || more.length > 0) throw refused('has not its form');
      const signed = [tenantId, sender, named, at, nonce].join('.');
      const shown = Buffer.from(mac, 'hex');
      if (!keys.some((key) => equalBytes(hmacSha256(key, signed), shown))) throw refused('is not genuine');
      if (receiver === null || named !== receiver) throw refused('is meant for another node');
      if (Math.abs(nowUs - Number(at)) > PASS_MS * 1000) throw refused('is not of now');
      forget(nowUs);
      if (seen.has(nonce)) throw refused('was shown before');
      if (seen.size >= MAX_REMEMBERED) throw refused('comes after too many others');
      // Longer than any pass with this time is accepted, so the order of the map is the order of the ends.
      seen.set(nonce, nowUs + 2 * PASS_MS * 1000);
      return { tenantId, sender, receiver };
    },
  };
}
