/** Lends workers among the nodes of a cluster, as the settings say. */
import { readPem } from './api/index.js';
import { createRelayDriver, peerDialer, relayPasses } from './bridge/index.js';
import type { Bridge, PeerTls, RelayDriver, RelayPasses } from './bridge/index.js';
import type { Bus } from './bus/index.js';
import type { Settings } from './config.js';
import { type Clock, type ClusterSecret, DuctorError, type Random } from './kernel/index.js';
import type { Log } from './telemetry/index.js';
import type { Coordinator } from './workflow/index.js';

/** What it needs. */
export interface RelayingParts {
  readonly settings: Settings;
  readonly secret: ClusterSecret;
  readonly random: Random;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly log: Log;
  readonly bridge: Bridge;
  readonly coordinator: Pick<Coordinator, 'nodeId' | 'liveNodes'>;
}

/** Relays of a node; null parts: it is switched off. */
export interface Relaying {
  readonly passes: RelayPasses | null;
  readonly driver: RelayDriver | null;
}

const pemBytes = (setting: string, path: string): Buffer => Buffer.from(readPem(setting, path), 'utf8');

/** The certificates of connections to other nodes; null: they are in clear. */
function peerTls(settings: Settings): PeerTls | null {
  const { DUCTOR_RELAY: how, DUCTOR_TLS_CERT: cert, DUCTOR_TLS_KEY: key, DUCTOR_RELAY_CA: ca } = settings;
  if (how === 'clear' || (how === 'auto' && cert === undefined)) return null;
  const hasOwn = cert !== undefined && key !== undefined;
  return {
    ca: ca === undefined ? null : pemBytes('DUCTOR_RELAY_CA', ca),
    own: hasOwn ? { cert: pemBytes('DUCTOR_TLS_CERT', cert), key: pemBytes('DUCTOR_TLS_KEY', key) } : null,
  };
}

/** How often one line is logged at most: a node that cannot be reached is tried again every few seconds. */
const LOG_MS = 30_000;

/** Says each line now and then; lines name nodes, of which there are few. */
function seldom(clock: Clock, log: (line: string, error: unknown) => void): (line: string, error: unknown) => void {
  const saidMs = new Map<string, number>();
  return (line, error) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (saidMs.get(line) ?? -LOG_MS) < LOG_MS) return;
    for (const [said, atMs] of saidMs) if (nowMs - atMs >= LOG_MS) saidMs.delete(said);
    saidMs.set(line, nowMs);
    log(line, error);
  };
}

/** Relays of a node. Throws invalid_argument when a file of the settings cannot be read. */
export function createRelaying(parts: RelayingParts): Relaying {
  const { settings, secret, random, clock, bus, log, bridge, coordinator } = parts;
  if (settings.DUCTOR_RELAY === 'off') return { passes: null, driver: null };
  peerTls(settings);
  const passes = relayPasses(secret, random);
  const dialer = peerDialer({
    clock,
    pass({ nodeId: receiver }, tenantId) {
      const sender = coordinator.nodeId();
      if (sender === null) throw new DuctorError('node_starting', 'this node is no member of the cluster now');
      return passes.issue({ tenantId, sender, receiver }, clock.nowUs());
    },
    tls: () => peerTls(settings),
    log: seldom(clock, (line, err) => log.warn({ err }, line)),
  });
  const onError = (err: unknown): void => log.error({ err }, 'a look at relays failed');
  return { passes, driver: createRelayDriver({ bridge, clock, bus, coordinator, dialer, onError }) };
}
