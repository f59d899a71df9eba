/** `ductor route preview` and `ductor route send`. */
import {
  PreviewRouteRequest,
  RouteRequest,
  RoutingDecision,
  type PreviewRouteResponse,
  type RouteResponse,
} from '../../gen/ductor/v1/routing.js';
import { bodyOf, type Body } from '../body.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson, parseJson } from '../output/message-json.js';
import { findPoolId } from '../pool/find.js';
import { readArgument } from '../read-text.js';
import { given } from '../workflow/find-definition.js';
import { funnelText } from './funnel.js';

/** Options that say what is to be decided. */
export interface WorkOptions extends ClientOptions {
  readonly file?: string;
  readonly pool?: string;
  readonly recipient?: string;
  readonly type?: string;
  /** JSON, @FILE or -. */
  readonly attributes?: string;
  readonly priority?: number;
  readonly channel?: string;
  readonly skill?: readonly string[];
  readonly exclude?: readonly string[];
}

async function bodyFor(engine: EngineClient, id: string | undefined, options: WorkOptions): Promise<Body> {
  const { pool, recipient, type, attributes, priority, channel, skill, exclude } = options;
  const json = attributes === undefined ? undefined : readArgument(attributes);
  return bodyOf(options.file, {
    pool_id: pool === undefined ? undefined : await findPoolId(engine, pool),
    ...{ recipient_id: recipient, excluded_recipient_ids: exclude, explain: true },
    ...{ 'routable.id': id, 'routable.type': type, 'routable.priority': priority, 'routable.channel': channel },
    'routable.attributes': json === undefined ? undefined : parseJson(json.text, json.where),
    'routable.required_skills': skill,
  });
}

async function print({ terminal }: CliContext, decision: RoutingDecision, { json }: ClientOptions): Promise<void> {
  if (json === true) terminal.out(`${await messageToJson('RoutingDecision', RoutingDecision, decision)}\n`);
  else terminal.out(funnelText(decision, terminal));
}

/** Runs `ductor route preview`. */
export function previewRoute(context: CliContext, id: string | undefined, options: WorkOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = await bodyFor(engine, id, options);
    const text = JSON.stringify(fields);
    const request = await messageFromJson('PreviewRouteRequest', PreviewRouteRequest, text, where);
    const { data } = await engine.ask<PreviewRouteResponse>((...rest) => engine.routing.previewRoute(request, ...rest));
    await print(context, given(data), options);
    if (options.json !== true) context.terminal.err('(nothing was written: ductor route send does it)\n');
  });
}

/** Options of `ductor route send`. */
export interface SendOptions extends WorkOptions {
  readonly key?: string;
}

/** Runs `ductor route send`: fails unless somebody has the work. */
export function sendRoute(context: CliContext, id: string | undefined, options: SendOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = await bodyFor(engine, id, options);
    const keyed = options.key === undefined ? fields : { ...fields, idempotency_key: options.key };
    const request = await messageFromJson('RouteRequest', RouteRequest, JSON.stringify(keyed), where);
    const { data } = await engine.ask<RouteResponse>((...rest) => engine.routing.route(request, ...rest));
    const decision = given(data);
    await print(context, decision, options);
    if (decision.outcomeClass !== 'success' && decision.outcomeClass !== 'waiting') context.fail();
    if (options.json === true) return;
    for (const assignment of decision.assignmentIds) context.terminal.err(`(assignment ${assignment})\n`);
  });
}
