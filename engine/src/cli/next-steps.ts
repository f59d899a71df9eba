/** What a development engine prints when it is ready. */

/** Facts of a started development engine. */
export interface DevFacts {
  readonly address: string;
  readonly apiKey: string;
  readonly dataDir: string;
  /** From the start of the process to now, ms. */
  readonly readyMs: number;
}

/** The text, for people. */
export function nextSteps({ address, apiKey, dataDir, readyMs }: DevFacts): string {
  return `
  Ductor is ready at ${address} (${(readyMs / 1000).toFixed(1)} s). Data: ${dataDir}

  Try next, in another terminal:

    export DUCTOR_ADDRESS=${address} DUCTOR_API_KEY=${apiKey}
    npm start --workspace bridge-example        # an app: leads over HTTP, step bodies in its process
    curl -s localhost:7500/leads -H 'content-type: application/json' \\
      -d '{"id": "lead-1", "name": "Ada", "state": "CA", "amount": 25000}'

  Or by hand, the API over REST (all of it: http://${address}/docs):

    curl -s http://${address}/api/workflows -H "authorization: Bearer $DUCTOR_API_KEY"

  Your own app: npm install @ductor/sdk, then see README.md ("First workflow").
  Ctrl-C stops the engine; what it was doing goes on at the next start.

`;
}
