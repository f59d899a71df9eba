/** A node in a process of its own that a bench calls: says where it is, what it took so far, and ends when told. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startTestNode, type TestNode } from '../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import type { Database } from '../engine/src/store/index.js';
import { compiled } from './compiled.js';
import { ENGINE_FLAGS } from './peers/places.js';

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

/** What a node has taken so far. */
export interface Usage {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** A node as its bench sees it. */
export interface ServedNode<Hello> {
  /** What it said first. */
  readonly hello: Hello;
  usage(): Promise<Usage>;
  end(): void;
}

/**
 * Starts the calling bench once more as the process of a node, compiled.
 *
 * @param file its import.meta.url; there, the argument "serve" leads to serveNode
 */
export async function startNode<Hello extends { readonly address: string }>(file: string): Promise<ServedNode<Hello>> {
  const child = fork(await compiled(fileURLToPath(file)), ['serve'], { execArgv: [...ENGINE_FLAGS] });
  const heard = <T>(): Promise<T> => new Promise((resolve) => void child.once('message', resolve));
  return {
    hello: await heard<Hello>(),
    usage() {
      const answer = heard<Usage>();
      child.send('cpu');
      return answer;
    },
    end: () => void child.send('end'),
  };
}
