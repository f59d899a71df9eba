/**
 * The app. `node dist/main.js all|api|worker`: the web side and the worker may live in one process or in two.
 * Settings: DUCTOR_ADDRESS, DUCTOR_API_KEY, PORT (default 7500, 0 for any free
 * one), WORLD_DIR (default .world), PAUSE (default 1s), BRIDGE (stream, grpc or http; default stream), CALLBACK_PORT
 * (where the engine calls, by default any free one).
 */
import { createServer } from 'node:http';
import { DuctorClient, DuctorError } from '@ductor/sdk';
import { leadApi } from './http.js';
import { leadWorkflow } from './lead-workflow.js';
import { Provider } from './provider.js';
import { FORMS, serveSteps } from './steps.js';

const role = process.argv[2] ?? 'all';
const port = Number(process.env['PORT'] ?? 7500);
const workflow = leadWorkflow(new Provider(process.env['WORLD_DIR'] ?? '.world'), process.env['PAUSE'] ?? '1s');

if (role === 'worker' || role === 'all') {
  const form = FORMS.find((known) => known === (process.env['BRIDGE'] ?? 'stream'));
  if (form === undefined) throw new DuctorError('invalid_argument', `BRIDGE is none of ${FORMS.join(', ')}`);
  await serveSteps(form, workflow, Number(process.env['CALLBACK_PORT'] ?? 0));
  process.stdout.write('worker ready\n');
}
if (role === 'api' || role === 'all') {
  const client = new DuctorClient();
  const server = createServer(leadApi(client, workflow));
  server.listen(port, '127.0.0.1', () => {
    const address = server.address();
    const listening = typeof address === 'object' && address !== null ? address.port : port;
    process.stdout.write(`leads at http://127.0.0.1:${listening}/leads\n`);
  });
  process.once('SIGTERM', () => {
    server.close();
    client.close();
  });
}
