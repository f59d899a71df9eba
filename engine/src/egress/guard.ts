/**
 * The egress guard: turns the URL that a user gave into an address that may be connected to, and nothing else may be.
 *
 * The name is looked up once, every address it has must be allowed, and the caller connects to the one it is given:
 * a name whose answer changes between look and connection changes nothing. A redirect is a new URL and is checked anew.
 */
import { DuctorError } from '../kernel/index.js';
import { parseAddress } from './address.js';
import { refusalOf, type EgressPolicy } from './policy.js';

/** Addresses of a host name; throws when it has none. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

/** Where to connect to. */
export interface EgressTarget {
  /** The URL that was checked. */
  readonly url: URL;
  /** Checked address to connect to, without brackets. */
  readonly address: string;
  readonly port: number;
  /** Without TLS. */
  readonly isPlain: boolean;
  /** Name that the certificate must be for and that the peer is asked for; an address where the URL names one. */
  readonly hostname: string;
}

/** Checks URLs before they are called. */
export interface EgressGuard {
  /**
   * What is wrong with the URL as it stands, without looking its name up; null: nothing. For the moment it is stored.
   *
   * @param url with the scheme http or https
   */
  problemOf(url: string): string | null;
  /**
   * Looks the name up and checks every address. Throws egress_refused; host_unreachable when the name has no address.
   */
  check(url: string): Promise<EgressTarget>;
}

/** The parts of a URL that count here. */
interface ParsedUrl {
  readonly url: URL;
  readonly hostname: string;
  readonly port: number;
  readonly isPlain: boolean;
}

/** Longest URL that is called, characters. */
const MAX_URL_CHARS = 2_048;

/** The URL taken apart, or what is wrong with it. */
function parse(text: string): ParsedUrl | string {
  if (text.length > MAX_URL_CHARS) return `it has ${text.length} characters, at most ${MAX_URL_CHARS} are allowed`;
  if (!URL.canParse(text)) return 'it is no URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `its scheme is ${url.protocol.slice(0, -1)}`;
  if (url.username !== '' || url.password !== '') return 'it holds a user name or a password';
  const isPlain = url.protocol === 'http:';
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  if (hostname === '') return 'it names no host';
  return { url, hostname, isPlain, port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port) };
}

function refused(what: string): DuctorError {
  return new DuctorError('egress_refused', `the URL may not be called: ${what}`);
}

/** A guard by this policy. */
export function egressGuard(policy: EgressPolicy, resolve: Resolver): EgressGuard {
  return {
    problemOf(text) {
      const parsed = parse(text);
      if (typeof parsed === 'string') return parsed;
      const { hostname, port, isPlain } = parsed;
      return parseAddress(hostname) === null ? null : refusalOf(policy, { address: hostname, port, isPlain });
    },
    async check(text) {
      const parsed = parse(text);
      if (typeof parsed === 'string') throw refused(parsed);
      const { hostname, port, isPlain } = parsed;
      const addresses = parseAddress(hostname) === null ? await resolve(hostname) : [hostname];
      for (const address of addresses) {
        const why = refusalOf(policy, { address, port, isPlain });
        if (why !== null) throw refused(why);
      }
      const [address] = addresses;
      if (address === undefined) throw new DuctorError('host_unreachable', `${hostname} has no address`);
      return { ...parsed, address };
    },
  };
}
