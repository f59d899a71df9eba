/** The web side of the app: takes leads, tells how they are. */
import { type DuctorClient, DuctorError, type Workflow } from '@ductor/sdk';
import express, { type Express } from 'express';
import { type Lead, leadSchema } from './lead.js';
import type { LeadAnswer } from './lead-workflow.js';

/** The app's routes: POST /leads starts a run for a lead, GET /leads/:runId shows it. */
export function leadApi(client: DuctorClient, workflow: Workflow<Lead, LeadAnswer>): Express {
  const app = express();
  app.use(express.json({ limit: '64kb' }));

  app.post('/leads', async (request, response) => {
    const parsed = leadSchema.safeParse(request.body);
    if (!parsed.success) {
      response
        .status(400)
        .json({ error: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) });
      return;
    }
    try {
      // The lead's own id is the key: a form that is sent twice starts one run.
      const run = await client.trigger(workflow, parsed.data, { idempotencyKey: parsed.data.id });
      response.status(202).json({ run: run.id, existing: run.existing });
    } catch (error) {
      const { code, message, retryable } = asDuctorError(error);
      response.status(retryable ? 503 : 500).json({ error: { code, message } });
    }
  });

  app.get('/leads/:runId', async (request, response) => {
    try {
      const { state, output, steps } = await client.get(request.params.runId);
      response.json({
        state,
        output,
        steps: steps.map((step) => ({ path: step.path, state: step.state, attempt: step.attempt })),
      });
    } catch (error) {
      const { code, message } = asDuctorError(error);
      response
        .status(code === 'not_found' || code === 'invalid_argument' ? 404 : 503)
        .json({ error: { code, message } });
    }
  });
  return app;
}

function asDuctorError(error: unknown): DuctorError {
  return error instanceof DuctorError
    ? error
    : new DuctorError('internal', error instanceof Error ? error.message : String(error));
}
