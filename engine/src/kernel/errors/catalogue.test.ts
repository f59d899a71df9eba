import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, RETIRED_CODES, type ErrorCode } from './catalogue.js';
import { DuctorError, impossible } from './ductor-error.js';
import type { ErrorKind, GrpcStatusName } from './error-kind.js';
import { ROUTING_ERRORS } from './routing-errors.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const KINDS: readonly (readonly [string, ErrorKind])[] = Object.entries(ERROR_CATALOGUE);

/** The HTTP statuses that say the same as each gRPC status. */
const HTTP_OF: Readonly<Record<GrpcStatusName, readonly number[]>> = {
  INVALID_ARGUMENT: [400, 413, 415],
  UNAUTHENTICATED: [401],
  PERMISSION_DENIED: [403],
  NOT_FOUND: [404],
  ALREADY_EXISTS: [409],
  ABORTED: [409],
  FAILED_PRECONDITION: [400, 409, 412, 422],
  RESOURCE_EXHAUSTED: [429],
  UNAVAILABLE: [503],
  DEADLINE_EXCEEDED: [504],
  CANCELLED: [499],
  UNIMPLEMENTED: [405, 501],
  INTERNAL: [500],
};

describe('the catalogue', () => {
  it('is alphabetical, in snake_case, and brings no retired code back', () => {
    const codes = KINDS.map(([code]) => code);
    const routing = Object.keys(ROUTING_ERRORS);
    const others = codes.filter((code) => !routing.includes(code));
    for (const part of [routing, others]) expect(part).toEqual([...part].sort());
    for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(codes.filter((code) => RETIRED_CODES.includes(code))).toEqual([]);
  });

  it.each(KINDS)('%s has sentences and statuses that agree', (_, kind) => {
    expect(kind.meaning).toMatch(/^[A-Z].*\.$/s);
    expect(kind.remedy).toMatch(/^[A-Z].*\.$/s);
    expect(HTTP_OF[kind.grpc]).toContain(kind.http);
  });

  it('calls only such failures retryable as may pass', () => {
    const statuses = new Set(KINDS.filter(([, kind]) => kind.retryable).map(([, kind]) => kind.grpc));
    for (const status of statuses) {
      expect(['UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'DEADLINE_EXCEEDED', 'ABORTED']).toContain(status);
    }
  });

  it('is what docs/errors.md says', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/generate-error-docs.mjs', '--check'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const documented = [...readFileSync(`${ROOT}docs/errors.md`, 'utf8').matchAll(/^## ([a-z_]+)$/gm)].map(
      ([, code]) => code,
    );
    expect(documented).toEqual(KINDS.map(([code]) => code).sort());
  });

  it('is closed: the type knows each code and no other', () => {
    const known: ErrorCode = 'internal';
    // @ts-expect-error a code that is not in the catalogue must not compile
    const unknown: ErrorCode = 'no_such_code';
    expect(known in ERROR_CATALOGUE).toBe(true);
    expect(unknown in ERROR_CATALOGUE).toBe(false);
  });
});

describe('DuctorError', () => {
  it('takes remedy and kind from the catalogue unless told better', () => {
    const error = new DuctorError('not_found', 'run x is not there');
    expect(error.remedy).toBe(ERROR_CATALOGUE.not_found.remedy);
    expect(error.kind).toBe(ERROR_CATALOGUE.not_found);
    expect(new DuctorError('not_found', 'x', { remedy: 'look again' }).remedy).toBe('look again');
  });

  it('wraps what is not one as internal and keeps the cause', () => {
    const cause = new TypeError('boom');
    const error = DuctorError.from(cause);
    expect([error.code, error.message, error.cause]).toEqual(['internal', 'boom', cause]);
    expect(DuctorError.from(error)).toBe(error);
    expect(DuctorError.from('text').message).toBe('text');
  });

  it('tags impossible states', () => {
    expect(() => impossible('tag-1', 'two heads')).toThrow('impossible state [tag-1]: two heads');
  });
});
