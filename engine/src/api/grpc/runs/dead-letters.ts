/** ListDeadLetters: parked runs by what parked them. */
import type {
  DeadLetterGroup as WireGroup,
  ListDeadLettersRequest,
  ListDeadLettersResponse,
} from '../../../gen/ductor/v1/run.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import {
  deadLetterOf,
  groupDeadLetters,
  type DeadLetter,
  type DeadLetterGroup,
  type RunCursor,
  type RunHeader,
  type RunReader,
} from '../ports.js';
import { pageEnd } from '../wire/page.js';
import { timestampOf } from '../wire/timestamp.js';
import { runCursorOf, runCursorText } from './run-filters.js';
import { stateOf } from './run-loader.js';

/** What it needs. */
export interface DeadLetterReads {
  readonly reader: Pick<RunReader, 'list' | 'getMany' | 'history'>;
}

/** Runs that are read with one query. */
const PAGE_RUNS = 100;
/** Parked runs that one call looks at. */
const MAX_LOOKED_AT = 1_000;

/** The dead letters among runs, in any order: not those of runs that have gone on meanwhile. */
export async function deadLettersOf(
  { reader }: DeadLetterReads,
  headers: readonly RunHeader[],
): Promise<readonly DeadLetter[]> {
  const stored = await reader.getMany(headers);
  const states = await Promise.all(stored.map((run) => stateOf(reader, run)));
  return states.flatMap((state) => deadLetterOf(state) ?? []);
}

function groupOf({ firstParkedAtUs, lastParkedAtUs, runId, ...group }: DeadLetterGroup): WireGroup {
  return {
    ...group,
    firstParkedAt: timestampOf(firstParkedAtUs),
    lastParkedAt: timestampOf(lastParkedAtUs),
    exampleRunId: runId,
  };
}

/** ListDeadLetters. */
export function listDeadLetters(reads: DeadLetterReads): Unary<ListDeadLettersRequest, ListDeadLettersResponse> {
  return async ({ familySlug, cursor }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.text('family_slug', familySlug, MAX_IDENTIFIER_CHARS);
    checks.page({ pageSize: 0, cursor, nextCursor: '' });
    checks.done();
    const query = { tenantId, status: 'PARKED', limit: PAGE_RUNS, isOpen: true } as const;
    const letters: DeadLetter[] = [];
    let next: RunCursor | null = cursor === '' ? null : runCursorOf(cursor);
    for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT;) {
      const page = await reads.reader.list({
        ...query,
        ...(familySlug === '' ? {} : { familySlug }),
        ...(next === null ? {} : { cursor: next }),
      });
      letters.push(...(await deadLettersOf(reads, page.headers)));
      lookedAt += page.headers.length;
      ({ next } = page);
      if (next === null) break;
    }
    return { data: groupDeadLetters(letters).map(groupOf), pagination: pageEnd(runCursorText(next)) };
  };
}
