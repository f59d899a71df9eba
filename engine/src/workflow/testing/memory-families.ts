/** Families in memory. */
import type { Family } from '../../capacity/index.js';
import type { FamilyRun } from '../coordinator/gate-ports.js';
import { decodeInput } from '../coordinator/run-logic.js';
import { chainIdOf, nameOf, type MemoryDatabase } from './memory-database.js';

/** Everybody of a family who is open, children that are still to begin among them, and everybody above these. */
export function familyRuns({ runs, inbox }: MemoryDatabase, { tenantId, rootId }: Family): readonly FamilyRun[] {
  const found = new Map<string, FamilyRun>();
  for (const { header } of runs.values()) {
    if (header.tenantId !== tenantId) continue;
    const { runId, parentId, rootId: root, closedAtUs } = header;
    const chainId = chainIdOf(header);
    if ((root ?? chainId) === rootId && closedAtUs === null)
      found.set(runId, { runId, chainId, parentId, isOpen: true });
  }
  for (const message of inbox.values()) {
    if (message.tenantId !== tenantId || message.familyId !== rootId) continue;
    const input = decodeInput(message.body);
    const parentId = input.kind === 'start' ? (input.birth?.family.parentId ?? null) : null;
    found.set(message.runId, { runId: message.runId, chainId: message.runId, parentId, isOpen: true });
  }
  for (const { parentId } of found.values()) {
    const parent = parentId === null ? undefined : runs.get(nameOf({ tenantId, runId: parentId }));
    if (parent === undefined || found.has(parent.header.runId)) continue;
    const { runId, closedAtUs } = parent.header;
    const chainId = chainIdOf(parent.header);
    found.set(runId, { runId, chainId, parentId: parent.header.parentId, isOpen: closedAtUs === null });
  }
  return [...found.values()];
}
