/**
 * Path templates of google.api.http: literals, variables of one segment, and a verb after the last colon.
 *
 *   /api/workflows/{workflow_id}:publish
 */
import { impossible } from '../../kernel/index.js';

/** One segment: a literal, or the path of the field it fills. */
export type Segment = { readonly literal: string } | { readonly variable: string };

/** A template. */
export interface Template {
  readonly segments: readonly Segment[];
  /** Text after the last colon; '' without one. */
  readonly verb: string;
}

const VARIABLE = /^\{([a-z_][a-z0-9_.]*)(?:=\*)?\}$/;
const LITERAL = /^[A-Za-z0-9._~-]+$/;

/** Reads a template. Throws internal when it uses what this router does not know: the engine must not start. */
export function readTemplate(text: string): Template {
  const [, path = '', verb = ''] = /^\/(.*?)(?::([A-Za-z_-]+))?$/.exec(text) ?? [];
  const segments = path.split('/').map((segment): Segment => {
    const [, variable] = VARIABLE.exec(segment) ?? [];
    if (variable !== undefined) return { variable };
    if (LITERAL.test(segment)) return { literal: segment };
    return impossible('path-template', `${text} has the segment ${segment}, which this engine cannot serve`);
  });
  return { segments, verb };
}
