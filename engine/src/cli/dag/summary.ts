/** A graph that is too large to draw: a line for each layer. */
import type { Paint } from '../output/paint.js';
import { oneLine, shorten } from '../output/safe-text.js';
import { tally } from './collapse.js';
import type { Dag, DagNode } from './graph.js';
import { layersOf } from './layers.js';

const NAMES_SHOWN = 4;
const NAME_CHARS = 24;

/** The lines: number of the layer, how many steps of which state, some of their names. */
export function summary(dag: Dag, isUnicode: boolean, paint: Paint): string[] {
  const { layers } = layersOf(dag);
  const head = `${dag.nodes.length} steps in ${layers.length} layers, too many to draw:`;
  const lines = layers.map((layer, index) => {
    const nodes = layer.map(({ node }) => node).filter((node): node is DagNode => node !== undefined);
    const names = nodes
      .slice(0, NAMES_SHOWN)
      .map(({ ref }) => shorten(oneLine(ref), NAME_CHARS, isUnicode ? '…' : '..'));
    const more = nodes.length > NAMES_SHOWN ? `, and ${nodes.length - NAMES_SHOWN} more` : '';
    const steps = nodes.length === 1 ? '1 step ' : `${nodes.length} steps`;
    const layerName = String(index + 1).padStart(4);
    return `${layerName}  ${steps.padEnd(9)}  ${tally(nodes, isUnicode)}  ${names.join(', ')}${more}`;
  });
  return [paint('quiet', head), ...lines];
}
