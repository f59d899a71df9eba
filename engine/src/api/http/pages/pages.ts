/** The routes for people and for tools that run engines: pages, health, metrics. Express serves them. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { DuctorError } from '../../../kernel/index.js';
import type { Contract } from '../../contract/contract.js';
import { openApiDocument } from '../../openapi/index.js';
import { JSON_TYPE, respond, respondError } from '../respond.js';
import { docsPage } from './docs-page.js';
import { mayReadMetrics, type MetricsAccess } from './metrics-access.js';

/** What the pages show. */
export interface PagesOptions {
  readonly contract: Contract;
  /** Comments of the contract by full name. */
  readonly comments: Readonly<Record<string, string>>;
  /** Whether this node can start runs. */
  readonly isReady: () => boolean;
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> };
  readonly metricsAccess: MetricsAccess;
  /** What a caller may see of whatever was caught. */
  readonly report: (caught: unknown) => DuctorError;
}

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

function notThere(path: string): DuctorError {
  const shown = path.slice(0, 200);
  const remedy = 'See /docs for what is served.';
  const details = [{ path: 'path', value: shown, problem: 'is not served', remedy }];
  return new DuctorError('route_not_found', `nothing is served at ${shown}`, { details, remedy });
}

/** A host that can stand in an example without surprises. */
function baseOf({ headers }: Request): string {
  const { host = '' } = headers;
  return /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/.test(host)
    ? `http://${host}`
    : 'http://localhost:7400';
}

/** Builds the application. */
export function createPages(options: PagesOptions): Express {
  const { contract, comments, isReady, metrics, metricsAccess, report } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  let openApi: string | undefined;
  const json = (response: Response, status: number, body: unknown): void =>
    respond(response, status, { 'content-type': JSON_TYPE }, JSON.stringify(body));
  const health = (response: Response, isFine: boolean, status: string): void =>
    json(response, isFine ? 200 : 503, { status });

  app.get(['/', '/docs'], (request, response) => {
    respond(response, 200, HTML_HEADERS, docsPage(contract, comments, baseOf(request)));
  });
  app.get('/openapi.json', (_, response) => {
    openApi ??= JSON.stringify(openApiDocument(contract, comments));
    respond(response, 200, { 'content-type': JSON_TYPE }, openApi);
  });
  app.get('/healthz', (_, response) => health(response, true, 'live'));
  app.get('/readyz', (_, response) => health(response, isReady(), isReady() ? 'ready' : 'not ready'));
  app.get('/metrics', async (request, response) => {
    if (!mayReadMetrics(metricsAccess, request)) return respondError(response, notThere('/metrics'));
    respond(response, 200, { 'content-type': metrics.contentType }, await metrics.metrics());
  });
  app.use((request, response) => respondError(response, notThere(request.path)));
  // Express knows by the four parameters that this one is for errors.
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) =>
    respondError(response, error instanceof URIError ? notThere(response.req.url) : report(error)),
  );
  return app;
}
