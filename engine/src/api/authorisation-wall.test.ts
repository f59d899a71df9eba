/**
 * The matrix once more, on a node whose statements for callers have all lost their condition on the tenant: row-level
 * security alone answers every cell as the table says, and shows no foreign row.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callersWithoutFilter, testDatabase } from '../store/testing/index.js';
import { startTestNode, type TestNode } from './grpc/testing/test-node.js';
import { GRPC_DOOR } from './testing/matrix/doors.js';
import { describeMatrix } from './testing/matrix/matrix.js';

/** Statements that the matrix reaches, at least: one that stripped nothing would be no wall's merit. */
const STRIPPED_MIN = 80;

const database = testDatabase();
const stripped = new Set<string>();
const kept = new Set<string>();
let node: TestNode;
beforeAll(async () => {
  node = await startTestNode(callersWithoutFilter(database.db, stripped, kept));
});
afterAll(() => node.stop());

describeMatrix(GRPC_DOOR, () => node, { isTimed: false });

describe('the statements of the matrix', () => {
  it('lost their condition on the tenant, all but those that an operator makes the key of a new tenant by', () => {
    expect(stripped.size).toBeGreaterThanOrEqual(STRIPPED_MIN);
    expect([...kept].filter((name) => !name.includes('ductor.ap'))).toEqual([]);
  });
});
