/**
 * Which addresses and ports the engine may call on somebody's behalf. Pure.
 *
 * - A public address: over TLS, at one of the allowed ports.
 * - Any other address, or plain text, or another port: only within a network that a setting allows.
 * - A metadata service: only where its own address is allowed, not a range around it.
 */
import { addressKind, isWithin, parseAddress, parseNetwork, type Network } from './address.js';

/** What may be called. */
export interface EgressPolicy {
  /** Networks that may be called although they are not public; also without TLS and at any port. */
  readonly allowed: readonly Network[];
  /** Ports of public addresses. */
  readonly ports: ReadonlySet<number>;
}

/** Ports of public addresses that may be called, over TLS. */
const EGRESS_PORTS: readonly number[] = [443, 8443];

/**
 * A policy from the texts of a setting.
 *
 * @param networks such as `10.0.0.0/8` or `::1`
 *
 * Returns the texts that name no network instead when there are any.
 */
export function egressPolicy(networks: readonly string[]): EgressPolicy | { readonly invalid: readonly string[] } {
  const parsed = networks.map((text) => ({ text, network: parseNetwork(text) }));
  const invalid = parsed.filter(({ network }) => network === null).map(({ text }) => text);
  if (invalid.length > 0) return { invalid };
  return { allowed: parsed.flatMap(({ network }) => network ?? []), ports: new Set(EGRESS_PORTS) };
}

/** A connection that somebody wants. */
export interface WantedConnection {
  /** As the resolver or the URL says it. */
  readonly address: string;
  readonly port: number;
  /** Without TLS. */
  readonly isPlain: boolean;
}

/** Why the connection may not be made; null: it may. The words name no address: who asked may not know it. */
export function refusalOf(policy: EgressPolicy, { address, port, isPlain }: WantedConnection): string | null {
  const bytes = parseAddress(address);
  if (bytes === null) return 'it leads to an address that cannot be read';
  const kind = addressKind(bytes);
  const isAllowed = policy.allowed.some(
    (network) => isWithin(bytes, network) && (kind !== 'metadata' || network.prefix === bytes.length * 8),
  );
  if (isAllowed) return null;
  if (kind !== 'public') return `it leads to an address that is not public (${kind})`;
  if (isPlain) return 'it is called without TLS';
  return policy.ports.has(port) ? null : `port ${port} is not among those that may be called`;
}
