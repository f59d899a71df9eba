/** Somebody fills in the form: posts leads to the app and insists until it has taken them. */
import { z } from 'zod';
import { sleep } from '../support/wait.js';
import type { DemoLead } from './leads.js';

const accepted = z.object({ run: z.string(), existing: z.boolean() });
const LIMIT_MS = 30_000;
/** Pause before a lead is posted again, ms. */
const PAUSE_MS = 500;

/** A lead the app has taken. */
export interface Delivery {
  readonly lead: DemoLead;
  readonly runId: string;
  /** Posts it took; more than one when the engine was down. */
  readonly posts: number;
}

/** Posts a lead until the app answers 202; its id makes repeats harmless. Throws for any answer but 202 and 503. */
export async function deliver(apiAddress: string, lead: DemoLead): Promise<Delivery> {
  const endMs = performance.now() + LIMIT_MS;
  for (let posts = 1; ; posts += 1) {
    const answer = await fetch(`${apiAddress}/leads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(lead),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const body: unknown = await answer.json();
    if (answer.status === 202) return { lead, runId: accepted.parse(body).run, posts };
    if (answer.status !== 503 || performance.now() > endMs)
      throw new Error(`the app answered ${answer.status} to ${lead.id}: ${JSON.stringify(body)}`);
    await sleep(PAUSE_MS);
  }
}
