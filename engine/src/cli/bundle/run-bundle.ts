/** Runs `ductor bundle diff`, `apply` and `export`. */
import {
  BundlePlan,
  RoutingBundle,
  type ApplyRoutingBundleResponse,
  type DiffRoutingBundleResponse,
  type ExportRoutingBundleResponse,
} from '../../gen/ductor/v1/bundle.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { given } from '../workflow/find-definition.js';
import { bundleYaml, readBundle } from './document.js';
import { planText } from './plan.js';

/** Options of diff. */
export interface DiffOptions extends ClientOptions {
  readonly prune?: readonly string[];
  readonly exitCode?: boolean;
}

/** Options of apply. */
export interface ApplyOptions extends ClientOptions {
  readonly prune?: readonly string[];
  readonly plan?: string;
  readonly reason?: string;
}

async function printPlan({ terminal }: CliContext, plan: BundlePlan, json: boolean, isDone: boolean): Promise<void> {
  if (json) terminal.out(`${await messageToJson('BundlePlan', BundlePlan, plan)}\n`);
  else terminal.out(planText(plan, terminal, isDone));
}

/** `ductor bundle diff`. */
export function diffBundle(context: CliContext, file: string, options: DiffOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { bundle: await readBundle(file), prune: [...(options.prune ?? [])] };
    const { data } = await engine.ask<DiffRoutingBundleResponse>((...rest) =>
      engine.bundles.diffRoutingBundle(request, ...rest),
    );
    const plan = given(data);
    await printPlan(context, plan, options.json === true, false);
    if (options.exitCode === true && plan.changes.length > 0) context.fail();
  });
}

/** `ductor bundle apply`. */
export function applyBundle(context: CliContext, file: string, options: ApplyOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { prune = [], plan: expectedPlan = '', reason = '' } = options;
    const request = { bundle: await readBundle(file), prune: [...prune], expectedPlan, reason };
    const { data } = await engine.ask<ApplyRoutingBundleResponse>((...rest) =>
      engine.bundles.applyRoutingBundle(request, ...rest),
    );
    await printPlan(context, given(data), options.json === true, true);
  });
}

/** `ductor bundle export`. */
export function exportBundle(context: CliContext, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<ExportRoutingBundleResponse>((...rest) =>
      engine.bundles.exportRoutingBundle({}, ...rest),
    );
    const bundle = given(data);
    const isJson = options.json === true;
    context.terminal.out(
      isJson ? `${await messageToJson('RoutingBundle', RoutingBundle, bundle)}\n` : await bundleYaml(bundle),
    );
  });
}
