import { describe, expect, it } from 'vitest';
import { PERMISSIONS, PUBLIC, SCOPES, isScope, permissionOf } from './permissions.js';

describe('permissionOf', () => {
  it('knows nothing that is not in the table, also not what every object has', () => {
    for (const method of ['', '/x/Y', '/ductor.v1.RunService/getrun', 'constructor', '__proto__', 'toString']) {
      expect(permissionOf(method)).toBeUndefined();
    }
  });

  it('leaves open only what says nothing about a tenant', () => {
    const open = Object.keys(PERMISSIONS).filter((method) => permissionOf(method) === PUBLIC);
    expect(open.every((method) => /^\/grpc\.(health|reflection)\./.test(method))).toBe(true);
    expect(open).toHaveLength(5);
  });

  it('uses every scope', () => {
    expect([...new Set(Object.values(PERMISSIONS))].filter((entry) => entry !== PUBLIC).sort()).toEqual(
      [...SCOPES].sort(),
    );
  });
});

describe('isScope', () => {
  it('takes scopes only', () => {
    expect(isScope('run:read')).toBe(true);
    expect(isScope(PUBLIC)).toBe(false);
  });
});
