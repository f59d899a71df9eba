import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Bridge, taskTokens } from './bridge/index.js';
import { memoryBus } from './bus/index.js';
import { readSettings } from './config.js';
import { clusterSecret, seededRandom, systemClock } from './kernel/index.js';
import { createRelaying, type Relaying } from './relaying.js';
import { createLog } from './telemetry/index.js';

const fixture = (name: string): string => fileURLToPath(new URL(`../../test/fixtures/tls/${name}`, import.meta.url));

function relaying(env: Record<string, string>): Relaying {
  const [clock, random] = [systemClock(), seededRandom(1)];
  const secret = clusterSecret('a secret for tests, 32 bytes long');
  const register = (): Promise<never> => expect.fail('nobody registers here');
  return createRelaying({
    ...{ settings: readSettings(env), secret, clock, random, bus: memoryBus(clock) },
    bridge: new Bridge({ nodeId: 'node', clock, tokens: taskTokens(secret, random), register }),
    log: createLog({ write: () => undefined }),
    coordinator: { nodeId: () => null, liveNodes: () => [] },
  });
}

describe('workers lent among nodes', () => {
  it('are the default, and can be switched off', () => {
    expect(relaying({}).passes).not.toBeNull();
    expect(relaying({ DUCTOR_RELAY: 'off' })).toEqual({ passes: null, driver: null });
  });

  it('go over TLS where the port speaks it, with files that can be read', () => {
    const own = { DUCTOR_TLS_CERT: fixture('server.pem'), DUCTOR_TLS_KEY: fixture('server-key.pem') };
    expect(relaying({ ...own, DUCTOR_RELAY_CA: fixture('ca.pem') }).driver).not.toBeNull();
    expect(relaying({ DUCTOR_RELAY: 'tls', DUCTOR_RELAY_CA: fixture('ca.pem') }).driver).not.toBeNull();
    expect(() => relaying({ ...own, DUCTOR_RELAY_CA: '/nowhere' })).toThrow(/DUCTOR_RELAY_CA: \/nowhere/);
    expect(relaying({ ...own, DUCTOR_RELAY: 'clear', DUCTOR_RELAY_CA: '/nowhere' }).driver).not.toBeNull();
    expect(() => relaying({ DUCTOR_RELAY: 'sometimes' })).toThrow(/DUCTOR_RELAY/);
  });
});
