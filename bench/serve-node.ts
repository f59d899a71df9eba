/** A node in a process of its own that a bench calls: says where it is, what CPU it took, and ends when told. */
import { startTestNode, type TestNode } from '../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import type { Database } from '../engine/src/store/index.js';

/**
 * Serves until the parent says anything but "cpu", which it answers with { cpuUs, rssBytes }.
 *
 * @param introduce what the parent is told first
 */
export async function serveNode(
  introduce: (node: TestNode, db: Database) => Promise<Readonly<Record<string, unknown>>>,
): Promise<void> {
  const database = await createTestDatabase();
  const node = await startTestNode(database.db);
  process.send?.({ address: node.address, ...(await introduce(node, database.db)) });
  process.on('message', (message) => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage();
      process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() });
      return;
    }
    void node
      .stop()
      .then(() => database.drop())
      .then(() => process.exit(0));
  });
}
