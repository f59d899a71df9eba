/** Filters and cursors of lists of runs, read from requests. */
import type { ListRunsRequest } from '../../../gen/ductor/v1/run.js';
import type { Timestamp } from '../../../gen/google/protobuf/timestamp.js';
import { encodeCursor, momentCursor } from '../checks/cursor.js';
import { type FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import type { RunCursor, RunQuery } from '../ports.js';
import { runStatusOf } from '../wire/enums.js';
import { usOf } from '../wire/timestamp.js';

const MAX_ATTRIBUTE_FILTERS = 8;
/** As long as the attributes of a run may be. */
const MAX_ATTRIBUTE_CHARS = 256;

/** A position as a cursor; empty: the list is over. */
export function runCursorText(cursor: RunCursor | null): string {
  return cursor === null ? '' : encodeCursor([cursor.startedAtUs, cursor.runId]);
}

/** The position of a cursor. Throws invalid_argument. */
export function runCursorOf(cursor: string): RunCursor {
  const { atUs: startedAtUs, id: runId } = momentCursor(cursor);
  return { startedAtUs, runId };
}

/** What narrows a list. */
export type Filters = Omit<RunQuery, 'tenantId' | 'cursor' | 'limit'>;

/** Fields of a request that narrow it. */
export type FilterFields = Pick<
  ListRunsRequest,
  'state' | 'familySlug' | 'attributes' | 'rootRunId' | 'parentRunId' | 'startedAfter' | 'startedBefore'
>;

function timeOf(checks: FieldChecks, path: string, time: Timestamp | undefined): number | undefined {
  if (time === undefined) return undefined;
  const us = usOf(time);
  if (Number.isSafeInteger(us) && us >= 0) return us;
  checks.note(path, String(time.seconds), 'is no time from 1970 to 2255', 'send a time within these years');
  return undefined;
}

/**
 * What narrows the list; notes what is wrong.
 *
 * @param within what stands in front of the paths of problems: 'filter.'
 */
export function filtersOf(request: FilterFields, checks: FieldChecks, within = ''): Filters {
  const { state, familySlug, attributes, rootRunId, parentRunId } = request;
  if (rootRunId !== '') checks.uuid(`${within}root_run_id`, rootRunId);
  if (parentRunId !== '') checks.uuid(`${within}parent_run_id`, parentRunId);
  checks.text(`${within}family_slug`, familySlug, MAX_IDENTIFIER_CHARS);
  const status = runStatusOf(state);
  if (status === undefined && state !== 0)
    checks.note(`${within}state`, String(state), 'is no state of runs', 'name one');
  const startedAfterUs = timeOf(checks, `${within}started_after`, request.startedAfter);
  const startedBeforeUs = timeOf(checks, `${within}started_before`, request.startedBefore);
  const names = Object.keys(attributes);
  checks.count(`${within}attributes`, names.length, 0, MAX_ATTRIBUTE_FILTERS);
  for (const name of names.slice(0, MAX_ATTRIBUTE_FILTERS)) {
    checks.text(`${within}attributes`, name, MAX_ATTRIBUTE_CHARS);
    checks.text(`${within}attributes.${name}`, attributes[name] ?? '', MAX_ATTRIBUTE_CHARS);
  }
  return {
    ...(status === undefined ? {} : { status }),
    ...(familySlug === '' ? {} : { familySlug }),
    ...(startedAfterUs === undefined ? {} : { startedAfterUs }),
    ...(startedBeforeUs === undefined ? {} : { startedBeforeUs }),
    ...(names.length === 0 ? {} : { attributes }),
    ...(rootRunId === '' ? {} : { rootId: rootRunId }),
    ...(parentRunId === '' ? {} : { parentId: parentRunId }),
  };
}
