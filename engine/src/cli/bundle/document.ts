/** Bundles as files: YAML, which JSON is a part of. The library is read when a command needs it. */
import { DuctorError } from '../../kernel/index.js';
import { RoutingBundle } from '../../gen/ductor/v1/bundle.js';
import { messageFromJson } from '../output/message-json.js';
import { readText } from '../read-text.js';

/** What the library throws for a text that is no YAML. */
interface NotYaml {
  readonly message: string;
}

function notYaml(where: string, text: string, { message }: NotYaml): DuctorError {
  const [problem = 'is no YAML'] = message.split('\n');
  const remedy = 'Write pools, recipients, rules and claim_queues as lists, in YAML or JSON.';
  return new DuctorError('invalid_argument', `${where}: ${problem}`, {
    details: [{ path: where, value: text.slice(0, 60), problem, remedy }],
    remedy,
  });
}

/**
 * The bundle that a file holds.
 *
 * @param path `-` is standard input
 * @throws invalid_argument with everything that is wrong
 */
export async function readBundle(path: string): Promise<RoutingBundle> {
  const where = path === '-' ? 'standard input' : path;
  const text = readText(path);
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { uniqueKeys: true });
  const [wrong] = document.errors;
  if (wrong !== undefined) throw notYaml(where, text, wrong);
  const value: unknown = document.toJS();
  // A file of comments is a bundle of nothing.
  return messageFromJson('RoutingBundle', RoutingBundle, JSON.stringify(value ?? {}), where);
}

/** The bundle as YAML, without what is not said. */
export async function bundleYaml(bundle: RoutingBundle): Promise<string> {
  const { contractJson } = await import('../../api/index.js');
  const { stringify } = await import('yaml');
  return stringify(contractJson().sent('RoutingBundle', RoutingBundle.encode(bundle).finish()), { lineWidth: 100 });
}
