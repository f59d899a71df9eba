/** What a development engine prints when it is ready. */
import { relative } from 'node:path';

/** Facts of a started development engine. */
export interface DevFacts {
  readonly address: string;
  readonly apiKey: string;
  /** Absolute. */
  readonly dataDir: string;
  /** From the start of the process to now, ms. */
  readonly readyMs: number;
  readonly pid: number;
}

/**
 * The text, for people.
 *
 * @param folder where the command was called, which decides how paths are written
 */
export function nextSteps({ address, apiKey, dataDir, readyMs, pid }: DevFacts, folder: string): string {
  const shown = relative(folder, dataDir);
  const data = shown === '' || shown.startsWith('..') ? dataDir : shown;
  const isUsual = shown === '.ductor';
  const option = isUsual ? '' : ` --data-dir ${data}`;
  return `
  Ductor is ready at ${address} (${(readyMs / 1000).toFixed(1)} s). Process ${pid}, data in ${data}

  Try next, in another terminal${isUsual ? ' in this folder' : ''}:

    npx ductor workflow publish FILE.json${option}       # a definition in JSON: docs/workflows.md
    npx ductor run list${option}
    npx tsx --env-file=${data}/env worker.ts       # your app with its key: README.md, "First workflow"

  Pages: http://${address}/docs   Key for curl and other clients:

    export DUCTOR_ADDRESS=${address} DUCTOR_API_KEY=${apiKey}
    curl -s http://${address}/api/workflows -H "Authorization: Bearer $DUCTOR_API_KEY"

  The example app of this project: npm start --workspace bridge-example
  Ctrl-C stops the engine; what it was doing goes on at the next start, also after kill -9.

`;
}
