/**
 * How the fields of a step type are marked. A literal is taken as it stands (and may be computed by `{"expr": "…"}`),
 * an expr is one CEL expression, a template is any JSON whose leaf strings are CEL expressions.
 */
import type { CelType } from '../../../expressions/index.js';
import type { Json } from '../definition.js';
import type { VariableSet } from './cel-schemas.js';

interface FieldBase {
  /** Whether it must be there. */
  readonly isRequired: boolean;
  /** A value as it is written in a definition, for remedies. */
  readonly example: string;
}

/** A value taken as it stands. */
export interface LiteralField extends FieldBase {
  readonly kind: 'literal';
  /** What is wrong with a value; undefined when it is fine. Also asked about computed ones. */
  readonly problem: (value: Json) => string | undefined;
  /** Values it may have, for "did you mean". */
  readonly choices?: readonly string[];
  /** Whether `{"expr": "…"}` may stand for it; otherwise why not. */
  readonly computable: true | { readonly why: string };
}

/** One CEL expression; a boolean, number or null stands for itself where its kind fits. */
export interface ExprField extends FieldBase {
  readonly kind: 'expr';
  readonly variables: VariableSet;
  readonly result: CelType;
}

/** JSON whose leaf strings are CEL expressions. */
export interface TemplateField extends FieldBase {
  readonly kind: 'template';
  readonly variables: VariableSet;
}

/** A list of at least one. */
export interface ListField extends FieldBase {
  readonly kind: 'list';
  readonly item: FieldSpec;
}

/** An object of at least one field with names of the author's choice. */
export interface RecordField extends FieldBase {
  readonly kind: 'record';
  readonly value: FieldSpec;
}

/** An object with known fields. */
export interface ObjectField extends FieldBase {
  readonly kind: 'object';
  readonly fields: Fields;
  /** Exactly one of the fields must be there. */
  readonly isChoice?: boolean;
}

/** Any field. */
export type FieldSpec = LiteralField | ExprField | TemplateField | ListField | RecordField | ObjectField;

/** Fields by name. */
export type Fields = Readonly<Record<string, FieldSpec>>;
