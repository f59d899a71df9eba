/**
 * Network addresses as bytes, and what kind of network they lead to. Pure. Text is parsed once and never compared:
 * an address has many spellings and one value.
 */

/** What an address leads to; only `public` may be called without being allowed by a setting. */
export type AddressKind =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'carrier_nat'
  | 'link_local'
  | 'metadata'
  | 'multicast'
  | 'translated'
  | 'reserved';

/** A range of addresses: those whose first bits are those of `bytes`. */
export interface Network {
  /** 4 or 16 bytes. */
  readonly bytes: Uint8Array;
  /** How many leading bits count. */
  readonly prefix: number;
}

/** The bytes of a dotted quad without leading zeros; null: it is none. */
function parseV4(text: string): Uint8Array | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null;
  const numbers = parts.map(Number);
  return numbers.every((number) => number < 256) ? Uint8Array.from(numbers) : null;
}

/** The 16-bit groups of one side of an IPv6 address; null: not well-formed. */
function groupsOf(text: string): number[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  return parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part)) ? parts.map((part) => Number.parseInt(part, 16)) : null;
}

/** The text with a dotted quad at its end written as two groups; null: that is no quad. */
function withoutQuad(text: string): string | null {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const quad = parseV4(text.slice(start));
  return quad === null ? null : `${text.slice(0, start)}${Buffer.from(quad).toString('hex').replace(/^.{4}/, '$&:')}`;
}

function parseV6(text: string): Uint8Array | null {
  const sides = withoutQuad(text)?.split('::') ?? [];
  const [head, tail] = sides.map(groupsOf);
  if (sides.length > 2 || head === null || head === undefined || tail === null) return null;
  const given = head.length + (tail?.length ?? 0);
  if (tail === undefined ? given !== 8 : given > 7) return null;
  const groups = [...head, ...new Array<number>(8 - given).fill(0), ...(tail ?? [])];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/**
 * The bytes of an address: 4 of IPv4, 16 of IPv6. null: the text is no address in its standard form (a zone, a number
 * in octal or hexadecimal, a missing part).
 */
export function parseAddress(text: string): Uint8Array | null {
  return text.includes(':') ? parseV6(text) : parseV4(text);
}

/** The range a text like `10.0.0.0/8` or a single address names; null: it names none. */
export function parseNetwork(text: string): Network | null {
  const [address = '', length, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return null;
  const prefix = length === undefined ? bytes.length * 8 : Number(length);
  return prefix > bytes.length * 8 ? null : { bytes, prefix };
}

/** Whether the address lies in the range. */
export function isWithin(address: Uint8Array, { bytes, prefix }: Network): boolean {
  if (address.length !== bytes.length) return false;
  const whole = prefix >> 3;
  for (let index = 0; index < whole; index += 1) if (address[index] !== bytes[index]) return false;
  const mask = 0xff << (8 - (prefix & 7));
  return (prefix & 7) === 0 || ((address[whole] ?? 0) & mask & 0xff) === ((bytes[whole] ?? 0) & mask & 0xff);
}

/** Ranges and their kinds, the first that holds counts. From the IANA registries of special-purpose addresses. */
const RANGES = (
  [
    // Of clouds: whoever reads them gets credentials. One of them lies among public addresses.
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['169.254.170.23', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec2::23', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['0.0.0.0/8', 'unspecified'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'carrier_nat'],
    ['127.0.0.0/8', 'loopback'],
    ['169.254.0.0/16', 'link_local'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'reserved'],
    ['192.0.2.0/24', 'reserved'],
    ['192.31.196.0/24', 'reserved'],
    ['192.52.193.0/24', 'reserved'],
    ['192.88.99.0/24', 'translated'],
    ['192.168.0.0/16', 'private'],
    ['192.175.48.0/24', 'reserved'],
    ['198.18.0.0/15', 'reserved'],
    ['198.51.100.0/24', 'reserved'],
    ['203.0.113.0/24', 'reserved'],
    ['224.0.0.0/4', 'multicast'],
    ['240.0.0.0/4', 'reserved'],
    ['::/128', 'unspecified'],
    ['::1/128', 'loopback'],
    ['::/96', 'translated'],
    ['::ffff:0:0/96', 'translated'],
    ['::ffff:0:0:0/96', 'translated'],
    ['64:ff9b::/96', 'translated'],
    ['64:ff9b:1::/48', 'translated'],
    ['2001::/32', 'translated'],
    ['2001::/23', 'reserved'],
    ['2001:db8::/32', 'reserved'],
    ['2002::/16', 'translated'],
    ['2620:4f:8000::/48', 'reserved'],
    ['3fff::/20', 'reserved'],
    ['fc00::/7', 'private'],
    ['fe80::/10', 'link_local'],
    ['fec0::/10', 'private'],
    ['ff00::/8', 'multicast'],
    ['0.0.0.0/0', 'public'],
    ['2000::/3', 'public'],
  ] as const
).map(([text, kind]) => ({ network: parseNetwork(text), kind }));

/** What the address leads to. What no range of public addresses holds is `reserved`. */
export function addressKind(address: Uint8Array): AddressKind {
  return RANGES.find(({ network }) => network !== null && isWithin(address, network))?.kind ?? 'reserved';
}
