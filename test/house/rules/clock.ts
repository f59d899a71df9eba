/** Clock, randomness, timers and ids are arguments: in the engine only adapters (system-*.ts) ask the machine. */
import { type Finding, type SourceFile, isProduct, lineAt } from '../source.js';
import { type Node, child, children, nameOf, parse, walk } from '../syntax.js';

const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate']);
const READS = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'process.hrtime',
  'crypto.randomUUID',
  'crypto.randomBytes',
  'crypto.getRandomValues',
]);

/** What the node asks of the machine, or undefined. */
function asked(node: Node): string | undefined {
  const callee = child(node, 'callee');
  if (node.type === 'NewExpression') {
    return nameOf(callee) === 'Date' && children(node, 'arguments').length === 0 ? 'new Date()' : undefined;
  }
  if (node.type === 'CallExpression' && TIMERS.has(nameOf(callee) ?? '')) return nameOf(callee);
  if (node.type !== 'MemberExpression') return undefined;
  const name = `${nameOf(child(node, 'object'))}.${nameOf(child(node, 'property'))}`;
  return READS.has(name) ? name : undefined;
}

/** Places in the engine, outside adapters, that read the clock, roll dice, draw ids or set timers of the machine. */
export function machineReads(files: readonly SourceFile[]): Finding[] {
  const findings: Finding[] = [];
  const looked = files.filter(({ path }) => path.startsWith('engine/src/') && isProduct(path));
  for (const file of looked.filter(({ path }) => !/\/system-[^/]+\.ts$/.test(path))) {
    walk(parse(file), (node) => {
      const name = asked(node);
      if (name === undefined) return;
      const message = `${name}: take a Clock or a Random as argument`;
      findings.push({ rule: 'machine-read', path: file.path, line: lineAt(file.text, node.start), message });
    });
  }
  return findings;
}
