/** A failure as it leaves the engine: what the caller may know of it, in the shapes of the contract. */
import type { DuctorError } from '../../../kernel/index.js';
import type { Error as WireError, Failure, Problem } from '../../../gen/ductor/v1/common.js';

/** The message ductor.v1.Error. */
export function wireError(error: DuctorError): WireError {
  return {
    code: error.code,
    status: error.kind.grpc,
    message: error.message,
    details: wireProblems(error),
    retryable: error.kind.retryable,
    retryAfter: retryAfterText(error),
    remedy: error.remedy,
  };
}

/** When to come again, such as "100ms"; empty when nothing is known. */
export function retryAfterText({ retryAfterMs }: DuctorError): string {
  return retryAfterMs === undefined ? '' : `${retryAfterMs}ms`;
}

/** Its details. */
export function wireProblems({ details }: DuctorError): Problem[] {
  return details.map(({ path, value, problem, remedy }) => ({ path, value, problem, remedy }));
}

/** The failure of one item of a batch. */
export function wireFailure(error: DuctorError): Failure {
  const { code, message, kind } = error;
  return { code, message, step: '', attempt: 0, retryable: kind.retryable, stack: '', causes: [] };
}
