/** Where things are. */
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Root of the project. */
export const ROOT = at('../../');
/** The bench's own package. */
export const BENCH = at('../');
/** The engine's command. */
export const ENGINE_BIN = at('../../engine/bin/ductor.js');
/** Flags of node, as the container starts a node: what a batch holds does not outlive a small young generation. */
export const ENGINE_FLAGS: readonly string[] = ['--max-semi-space-size=64'];
/** The compiled process of the bench. */
export const PARTICIPANT = at('../dist/participant.js');
/** Loaded into processes that are profiled. */
export const PROFILE_HOOK = at('../dist/profile-hook.js');
/** Where results are kept. */
export const RESULTS = at('../results/');

/** So many free ports of the loopback, as the system gives them out. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  return servers.map((server) => {
    const address = server.address();
    server.close();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
}
