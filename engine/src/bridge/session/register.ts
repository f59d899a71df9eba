/** Registers what a worker brings: one outcome a workflow, and what it can do by those that were taken. */
import { DuctorError, type Problem } from '../../kernel/index.js';
import { deedOf, type Principal } from '../../tenancy/index.js';
import type { RegistrationOutcome, WorkflowRegistration } from '../../gen/ductor/v1/bridge.js';
import type { RegisterDefinition } from '../ports.js';
import type { WorkflowCapability } from '../queue/capability.js';
import { definitionFromWire } from '../wire/definition-from-wire.js';

/** All registrations of a hello. */
export interface Registrations {
  /** In the order of the hello. */
  readonly outcomes: RegistrationOutcome[];
  readonly workflows: readonly WorkflowCapability[];
}

/** What a refusal says; null when the error is not about the definition. */
function problemsOf(error: DuctorError): readonly Problem[] | null {
  if (error.code !== 'invalid_definition' && error.code !== 'invalid_argument') return null;
  if (error.details.length > 0) return error.details;
  return [{ path: '', value: '', problem: error.message, remedy: error.remedy }];
}

async function registerOne(
  register: RegisterDefinition,
  principal: Principal,
  method: string,
  { definition }: WorkflowRegistration,
): Promise<RegistrationOutcome> {
  const familySlug = definition?.familySlug ?? '';
  const deed = deedOf(principal, method);
  try {
    if (definition === undefined) throw new DuctorError('invalid_argument', 'the definition is missing');
    const { version, isNew } = await register(principal.tenantId, definitionFromWire(definition), deed);
    return { familySlug, version, published: isNew, problems: [], code: '' };
  } catch (error) {
    const refusal = DuctorError.from(error);
    const problems = problemsOf(refusal)?.map((problem) => ({ ...problem }));
    if (problems === undefined) throw error;
    return { familySlug, version: 0, published: false, problems, code: refusal.code };
  }
}

/**
 * Registers one after the other: a worker that starts is in no hurry, and a thousand of them at once must not take the
 * database's connections from the runs. A definition that is refused does not stop the others.
 *
 * Throws what is not about a definition: database_unavailable.
 *
 * @param method what the app called, for the audit trail
 */
export async function registerAll(
  register: RegisterDefinition,
  principal: Principal,
  method: string,
  registrations: readonly WorkflowRegistration[],
): Promise<Registrations> {
  const outcomes: RegistrationOutcome[] = [];
  const workflows: WorkflowCapability[] = [];
  for (const registration of registrations) {
    const outcome = await registerOne(register, principal, method, registration);
    outcomes.push(outcome);
    if (outcome.version === 0) continue;
    const pinnedVersion = registration.pin ? outcome.version : null;
    workflows.push({ familySlug: outcome.familySlug, handlers: registration.handlers, pinnedVersion });
  }
  return { outcomes, workflows };
}
