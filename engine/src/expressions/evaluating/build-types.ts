/** What the compilers of single nodes are given. */
import type { Expr } from '../syntax/expr.js';
import type { Evaluator } from './frame.js';

/** Compiles one node with the macro variables around it. */
export type Build = (expr: Expr, slots: Slots) => Evaluator;

/** Slots of the macro variables around a place, by name. */
export type Slots = ReadonlyMap<string, number>;

/** Hands out slots. Every macro has its own, so that nested ones never overwrite each other. */
export interface SlotCounter {
  next(): number;
}
