/** The edges to a step, by where it is placed and what it reads. */
import { DefinitionError } from './definition-error.js';
import type { EdgeJson, JoinJson } from './definition-json.js';
import type { Level } from './bodies.js';
import { referenceCore, type StepRead } from './reference.js';
import type { AnyStep, Placement } from './step-options.js';
import { joinJson } from './step-text.js';

/** How a step is connected. */
export interface Connections {
  readonly edges: readonly EdgeJson[];
  /** What it reads or comes after that stands outside of its level. */
  readonly outer: readonly StepRead[];
  /** When it begins; undefined: once all edges are resolved, one of them fired. */
  readonly join: JoinJson | undefined;
}

type Draft = Pick<EdgeJson, 'source_ref' | 'type' | 'case'>;

/** Edges that are written out: they decide whether the step runs, not only when. */
function isGate({ type, case: label }: Draft): boolean {
  return label !== undefined || type === 'EDGE_TYPE_FAILURE' || type === 'EDGE_TYPE_TIMEOUT';
}

/** Collects edges, each once. */
class Edges {
  readonly drafts: Draft[] = [];
  readonly outer: StepRead[] = [];

  constructor(readonly level: Level) {}

  add(step: AnyStep, type: EdgeJson['type']): void {
    if (type === 'EDGE_TYPE_SUCCESS' && !this.level.steps.some(({ ref }) => ref === step.ref)) {
      this.outer.push({ ref: step.ref, what: 'output' });
      return;
    }
    const draft = { source_ref: step.ref, type, ...(step.case !== undefined && { case: step.case }) };
    const isKnown = this.drafts.some(
      (known) => known.source_ref === step.ref && known.type === type && known.case === step.case,
    );
    if (!isKnown) this.drafts.push(draft);
  }

  get sources(): ReadonlySet<string> {
    return new Set(this.drafts.map(({ source_ref: ref }) => ref));
  }

  /** Steps that have completed whenever one of these began: along edges of success, back to the first. */
  before(refs: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...refs];
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      for (const { source_ref: source, target_ref: target, type } of this.level.edges) {
        if (target !== ref || type !== 'EDGE_TYPE_SUCCESS' || found.has(source)) continue;
        found.add(source);
        open.push(source);
      }
    }
    return found;
  }
}

/**
 * The edges to a step. What is written out comes first: onFailure, onTimeout, always, after. What the step reads has
 * to have completed, so an edge from it is added, unless it lies before a step that was written out: that has waited
 * for it, and one more edge would fire whether or not that step leads here. Throws DefinitionError.
 */
export function connectionsOf(
  level: Level,
  name: string,
  placement: Placement,
  reads: readonly StepRead[],
): Connections {
  const when = placement.when === undefined ? undefined : referenceCore(placement.when);
  const { onFailure, onTimeout, always } = placement;
  const edges = new Edges(level);
  if (onFailure !== undefined) edges.add(onFailure, 'EDGE_TYPE_FAILURE');
  if (onTimeout !== undefined) edges.add(onTimeout, 'EDGE_TYPE_TIMEOUT');
  if (always !== undefined) edges.add(always, 'EDGE_TYPE_ALWAYS');
  const named = edges.sources;
  for (const step of [placement.after ?? []].flat()) if (!named.has(step.ref)) edges.add(step, 'EDGE_TYPE_SUCCESS');
  const written = edges.drafts.length;
  const known = new Set([...edges.sources, ...edges.before(edges.sources)]);
  // The item of a body is there as long as the body is.
  const steps = [...reads, ...(when?.reads ?? [])].filter(({ what }) => what !== 'item');
  for (const { ref } of steps) if (!known.has(ref)) edges.add({ ref }, 'EDGE_TYPE_SUCCESS');
  if (when !== undefined && edges.drafts.length === 0) {
    throw new DefinitionError(
      `step ${name} has a condition but no step before it`,
      'put it after a step, or decide inside its body',
    );
  }
  const condition = when === undefined ? {} : { condition: when.cel };
  const isMixed = edges.drafts.length > written && edges.drafts.slice(0, written).some(isGate);
  return {
    edges: edges.drafts.map(({ source_ref, ...draft }) => ({ source_ref, target_ref: name, ...draft, ...condition })),
    outer: edges.outer,
    join: joinJson(placement) ?? (isMixed ? { mode: 'n_of', count: edges.drafts.length } : undefined),
  };
}
