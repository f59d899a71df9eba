/** Bundles and their plans as messages. */
import { RoutingBundle, type BundlePlan as PlanMessage } from '../../../gen/ductor/v1/bundle.js';
import type { Bundle, BundlePlan } from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';

/** What a plan changes, as a message. */
export function planMessage({ changes, unchanged, digest: planDigest, warnings }: BundlePlan): PlanMessage {
  return {
    changes: changes.map(({ version: recordVersion, fields, ...change }) => ({
      ...{ ...change, recordVersion },
      fields: fields.map((each) => ({ ...each })),
    })),
    ...{ unchanged, planDigest, warnings: [...warnings] },
  };
}

/** A bundle as a message. */
export function bundleMessage(bundle: Bundle): RoutingBundle {
  return RoutingBundle.decode(contractJson().encode('RoutingBundle', JSON.parse(JSON.stringify(bundle))));
}
