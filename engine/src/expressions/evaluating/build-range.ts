/**
 * Macros over a list or the keys of a map. Here the cost of an expression is counted: every pass pays for the nodes of
 * the body before it runs, so that all passes of nested macros together cost nodes × the product of their ranges.
 */
import { impossible } from '../../kernel/index.js';
import { childrenOf, type Expr, type RangeExpr } from '../syntax/expr.js';
import { entriesOfMap } from '../values/compare.js';
import { CelFailure, located } from '../values/failure.js';
import { CelMap, kindOf } from '../values/values.js';
import type { Build, SlotCounter, Slots } from './build-types.js';
import { absorb, notBool } from './build-logic.js';
import { type Evaluator, type Frame, spend } from './frame.js';

/** What a range goes through: keys (or indexes) and values. A macro of one variable sees elements, or keys. */
interface Items {
  readonly isList: boolean;
  readonly keys: readonly unknown[] | undefined;
  readonly values: readonly unknown[];
}

/** One macro, with its body compiled. `enter` sets the variables of a pass and pays for it. */
interface Loop {
  readonly at: number;
  readonly bodyAt: number;
  readonly filterAt: number;
  readonly body: Evaluator;
  readonly filter: Evaluator | undefined;
  itemsOf(frame: Frame): Items;
  enter(frame: Frame, items: Items, index: number): void;
}

/** `range.macro(variables, body)` */
export function buildRange(expr: RangeExpr, slots: Slots, build: Build, counter: SlotCounter): Evaluator {
  const loop = buildLoop(expr, slots, build, counter);
  switch (expr.macro) {
    case 'all':
      return (frame) => quantify(frame, loop, false);
    case 'exists':
      return (frame) => quantify(frame, loop, true);
    case 'exists_one':
      return (frame) => isExactlyOne(frame, loop);
    case 'filter':
      return (frame) => filter(frame, loop);
    case 'map':
    case 'transformList':
      return (frame) => transform(frame, loop);
    case 'transformMap':
      return (frame) => transformMap(frame, loop);
    case 'transformMapEntry':
      return (frame) => transformEntries(frame, loop);
  }
}

function buildLoop(expr: RangeExpr, slots: Slots, build: Build, counter: SlotCounter): Loop {
  const range = build(expr.range, slots);
  const own = expr.variables.map((name) => ({ name, slot: counter.next() }));
  const inner = new Map(slots);
  for (const { name, slot } of own) inner.set(name, slot);
  const isPair = own.length === 2;
  const [first, second] = own.map((variable) => variable.slot);
  if (first === undefined) return impossible('expr-range', 'a macro without a variable');
  const cost = 1 + nodesOf(expr.body) + (expr.filter === undefined ? 0 : nodesOf(expr.filter));
  return {
    at: expr.at,
    bodyAt: expr.body.at,
    filterAt: expr.filter?.at ?? expr.at,
    body: build(expr.body, inner),
    filter: expr.filter === undefined ? undefined : build(expr.filter, inner),
    itemsOf: (frame) => itemsOf(frame, range(frame), isPair, expr.range.at),
    enter: (frame, items, index) => {
      spend(frame, cost);
      if (second === undefined) {
        frame.locals[first] = items.values[index];
        return;
      }
      frame.locals[first] = items.keys === undefined ? BigInt(index) : items.keys[index];
      frame.locals[second] = items.values[index];
    },
  };
}

/** Nodes one pass visits; passes of macros inside pay for themselves. */
function nodesOf(expr: Expr): number {
  if (expr.kind === 'range') return 1 + nodesOf(expr.range);
  return childrenOf(expr).reduce((sum, child) => sum + nodesOf(child), 1);
}

function itemsOf(frame: Frame, range: unknown, isPair: boolean, at: number): Items {
  if (Array.isArray(range)) return { isList: true, keys: undefined, values: range };
  try {
    if (kindOf(range) !== 'map') {
      throw new CelFailure('a macro goes through a list or a map, and this is neither', 'Guard it, or mend the value.');
    }
  } catch (caught) {
    throw located(caught, at);
  }
  const keys: unknown[] = [];
  const values: unknown[] = [];
  for (const [key, value] of entriesOfMap(range)) {
    spend(frame, 1);
    keys.push(key);
    values.push(isPair ? value : key);
  }
  return { isList: false, keys, values };
}

/** all (deciding: false) and exists (deciding: true): one pass that decides outweighs failures of others. */
function quantify(frame: Frame, loop: Loop, deciding: boolean): boolean {
  const items = loop.itemsOf(frame);
  let failure: CelFailure | undefined;
  for (let index = 0; index < items.values.length; index++) {
    try {
      loop.enter(frame, items, index);
      const answer = loop.body(frame);
      if (answer === deciding) return deciding;
      if (answer !== !deciding) throw notBool(loop.bodyAt);
    } catch (caught) {
      const absorbed = absorb(frame, caught);
      failure ??= absorbed;
    }
  }
  if (failure !== undefined) throw failure;
  return !deciding;
}

function isExactlyOne(frame: Frame, loop: Loop): boolean {
  const items = loop.itemsOf(frame);
  let found = 0;
  for (let index = 0; index < items.values.length; index++) {
    loop.enter(frame, items, index);
    if (isTrue(loop.body(frame), loop.bodyAt)) found += 1;
  }
  return found === 1;
}

function filter(frame: Frame, loop: Loop): unknown {
  const items = loop.itemsOf(frame);
  const kept: unknown[] = [];
  for (let index = 0; index < items.values.length; index++) {
    loop.enter(frame, items, index);
    if (isTrue(loop.body(frame), loop.bodyAt)) kept.push(items.values[index]);
  }
  return kept;
}

function transform(frame: Frame, loop: Loop): unknown {
  const items = loop.itemsOf(frame);
  const made: unknown[] = [];
  for (let index = 0; index < items.values.length; index++) {
    loop.enter(frame, items, index);
    if (isKept(frame, loop)) made.push(loop.body(frame));
  }
  return made;
}

function transformMap(frame: Frame, loop: Loop): unknown {
  const items = loop.itemsOf(frame);
  const made = new CelMap();
  for (let index = 0; index < items.values.length; index++) {
    loop.enter(frame, items, index);
    if (isKept(frame, loop)) made.add(items.keys === undefined ? BigInt(index) : items.keys[index], loop.body(frame));
  }
  return made;
}

function transformEntries(frame: Frame, loop: Loop): unknown {
  const items = loop.itemsOf(frame);
  const made = new CelMap();
  for (let index = 0; index < items.values.length; index++) {
    loop.enter(frame, items, index);
    if (!isKept(frame, loop)) continue;
    for (const [key, value] of entriesOfBody(loop.body(frame), loop.bodyAt)) {
      spend(frame, 1);
      if (!made.add(key, value)) throw located(new CelFailure('two entries have one key'), loop.bodyAt);
    }
  }
  return made;
}

function entriesOfBody(value: unknown, at: number): Iterable<readonly [unknown, unknown]> {
  try {
    if (kindOf(value) === 'map') return entriesOfMap(value);
    throw new CelFailure('transformMapEntry() needs a map', 'Write {key: value}.');
  } catch (caught) {
    throw located(caught, at);
  }
}

function isKept(frame: Frame, loop: Loop): boolean {
  return loop.filter === undefined || isTrue(loop.filter(frame), loop.filterAt);
}

function isTrue(value: unknown, at: number): boolean {
  if (typeof value === 'boolean') return value;
  throw notBool(at);
}
