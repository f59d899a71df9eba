import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineNodes } from './examine-nodes.js';

let server: Server;
let address: string;
beforeAll(async () => {
  server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  address = `127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : expect.fail('no port')}`;
});
afterAll(() => void server.close());

const node = (at: string, leaseMs = 1_000): Parameters<typeof examineNodes>[0]['nodes'][number] => ({
  ...{ nodeId: at, address: at, leaseMs, isFenced: false, shards: 128, probingRun: null },
});

describe('nodes', () => {
  it('that answer are well', async () => {
    const [finding] = await examineNodes({ nodes: [node(address), node(address)] });
    expect(finding).toMatchObject({
      check: 'nodes.reached',
      level: 'OK',
      found: '2 nodes at their addresses, from here',
    });
  });

  it('that do not are named, unless they are dead', async () => {
    const nodes = [node(address), node('127.0.0.1:1'), node('[::1]:1'), node('127.0.0.1:2', -1)];
    const [finding] = await examineNodes({ nodes });
    expect(finding).toMatchObject({ level: 'WARN', found: 'no connection from here to 127.0.0.1:1, [::1]:1' });
  });

  it('are not asked where there is one', async () => {
    expect(await examineNodes({ nodes: [node('127.0.0.1:1'), node('127.0.0.1:2', -1)] })).toEqual([]);
  });
});
