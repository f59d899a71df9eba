/**
 * Finds the route of a path: a tree of segments, literals before variables, the verb last. What is found depends on the
 * path alone; which HTTP methods it takes is a second question, so that a wrong one is told from a wrong path.
 */
import { DuctorError, impossible } from '../../kernel/index.js';
import { didYouMean } from '../../workflow/index.js';
import type { ContractMethod, HttpBinding, HttpVerb } from '../contract/contract.js';
import { readTemplate, type Segment } from './template.js';

/** A method at one of its places. */
export interface Route {
  readonly method: ContractMethod;
  readonly binding: HttpBinding;
  /** Paths of the fields that the path fills, in its order. */
  readonly variables: readonly string[];
}

/** What a path leads to. */
export interface Place {
  readonly routes: ReadonlyMap<HttpVerb, Route>;
  /** Decoded texts of the variable segments, in order. */
  readonly values: readonly string[];
}

interface Node {
  readonly literals: Map<string, Node>;
  variable: Node | undefined;
  /** By verb, '' for none. */
  readonly places: Map<string, Map<HttpVerb, Route>>;
}

const newNode = (): Node => ({ literals: new Map(), variable: undefined, places: new Map() });

function childOf(node: Node, segment: Segment): Node {
  if ('variable' in segment) return (node.variable ??= newNode());
  const child = node.literals.get(segment.literal) ?? newNode();
  node.literals.set(segment.literal, child);
  return child;
}

/** A segment as it was meant. Throws invalid_argument for broken percent signs. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    const problem = 'has a percent sign that encodes no UTF-8';
    const remedy = 'Encode the path with encodeURIComponent or its like.';
    throw new DuctorError('invalid_argument', `the path ${problem}`, {
      details: [{ path: 'path', value: segment.slice(0, 200), problem, remedy }],
      remedy,
    });
  }
}

/** Routes of a contract. */
export class Router {
  readonly #root = newNode();
  readonly #templates: string[] = [];

  /** Throws internal when two methods want the same place, or a template cannot be served. */
  constructor(methods: Iterable<ContractMethod>) {
    for (const method of methods) for (const binding of method.bindings) this.#add(method, binding);
  }

  /** What a raw path, without its query, leads to; undefined: nothing. Throws invalid_argument. */
  find(path: string): Place | undefined {
    const segments = path.slice(1).split('/');
    const last = segments.at(-1) ?? '';
    // Found in the raw path: a colon inside an id can be written %3A.
    const colon = last.lastIndexOf(':');
    const verb = colon === -1 ? '' : last.slice(colon + 1);
    if (colon !== -1) segments[segments.length - 1] = last.slice(0, colon);
    const values: string[] = [];
    const routes = walk(this.#root, segments.map(decodeSegment), 0, verb, values);
    return routes === undefined ? undefined : { routes, values };
  }

  /** The answer for a path that leads nowhere. */
  notFound(path: string): DuctorError {
    const shown = path.slice(0, 200);
    const problem = 'is not served';
    const remedy = `See /docs for the paths.${didYouMean(shown, this.#templates)}`;
    return new DuctorError('route_not_found', `nothing is served at ${shown}`, {
      details: [{ path: 'path', value: shown, problem, remedy }],
      remedy,
    });
  }

  #add(method: ContractMethod, binding: HttpBinding): void {
    const { segments, verb } = readTemplate(binding.template);
    let node = this.#root;
    for (const segment of segments) node = childOf(node, segment);
    const routes = node.places.get(verb) ?? new Map<HttpVerb, Route>();
    node.places.set(verb, routes);
    if (routes.has(binding.verb)) impossible('route-taken', `${binding.verb} ${binding.template} is there twice`);
    const variables = segments.flatMap((segment) => ('variable' in segment ? [segment.variable] : []));
    routes.set(binding.verb, { method, binding, variables });
    this.#templates.push(binding.template);
  }
}

function walk(
  node: Node,
  segments: readonly string[],
  at: number,
  verb: string,
  values: string[],
): ReadonlyMap<HttpVerb, Route> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.places.get(verb);
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : walk(literal, segments, at + 1, verb, values);
  if (found !== undefined || node.variable === undefined || segment === '') return found;
  values.push(segment);
  const further = walk(node.variable, segments, at + 1, verb, values);
  if (further === undefined) values.pop();
  return further;
}
