import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../store/testing/index.js';
import { PERMISSIONS } from '../tenancy/index.js';
import { startTestNode, type TestNode } from './grpc/testing/test-node.js';
import { CONNECT_DOOR, GRPC_DOOR, REST_DOOR } from './testing/matrix/doors.js';
import { describeMatrix } from './testing/matrix/matrix.js';
import { MATRIX_METHODS } from './testing/matrix/methods.js';
import { GOOD_REQUESTS } from './testing/matrix/requests.js';

const database = testDatabase();
let node: TestNode;
beforeAll(async () => {
  node = await startTestNode(database.db);
});
afterAll(() => node.stop());

describe('the matrix', () => {
  it('has every method of the descriptors and of the permission table, and no other', () => {
    const names = MATRIX_METHODS.map(({ name }) => name).sort();
    expect(names).toEqual(
      Object.keys(PERMISSIONS)
        .filter((name) => name.startsWith('/ductor.'))
        .sort(),
    );
    expect(Object.keys(GOOD_REQUESTS).sort()).toEqual(names);
  });
});

for (const door of [GRPC_DOOR, REST_DOOR, CONNECT_DOOR]) describeMatrix(door, () => node);
