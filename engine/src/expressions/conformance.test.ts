/**
 * The official conformance tests of CEL (cel-spec v0.25.1, shipped by @bufbuild/cel-spec) through the public interface.
 * Tests that need protobuf messages and tests of the checker's exact output are left out: 1,625 remain.
 * What fails stands in test/conformance/cel-expected-failures.json, which may only shrink: a test on the list that
 * passes is red, and so is one off the list that fails. DUCTOR_UPDATE_CEL_LIST=1 takes off what passes, adds nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  getConformanceSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from '@bufbuild/cel-spec/testdata/tests.js';
import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js';
import type { Type } from '@bufbuild/cel-spec/cel/expr/checked_pb.js';
import type { Value } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import { anyUnpack, type Any } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { impossible } from '../kernel/index.js';
import { createCelCompiler } from './index.js';
import type { CelSchema, CelType } from './types.js';
import { entriesOfMap } from './values/compare.js';
import { comparable, isNumber } from './values/numbers.js';
import { toDurationNs, toTimestampNs } from './values/time.js';
import { CelDuration, CelMap, CelTimestamp, CelTypeName, CelUint, kindOf } from './values/values.js';

const LIST = new URL('../../../test/conformance/cel-expected-failures.json', import.meta.url);
const MESSAGES =
  /TestAllTypes|NestedTestAll|google\.protobuf\.(Any|Struct|Value|ListValue|\w+Value)|GlobalEnum|proto[23]/;
const MESSAGE_SECTIONS = new Set(['proto2', 'proto3', 'proto2_ext', 'enums', 'wrappers', 'dynamic']);

interface Case {
  readonly section: string;
  readonly name: string;
  readonly test: IncrementalTest;
}

function loadCases(): readonly Case[] {
  const cases: Case[] = [];
  const seen = new Map<string, number>();
  const visit = (suite: IncrementalTestSuite, section: string): void => {
    for (const inner of suite.suites) visit(inner, section);
    for (const test of suite.tests) {
      if (needsMessages(test, section)) continue;
      const name = `${test.original.name}: ${test.original.expr}`.replace(/\s+/g, ' ').slice(0, 110);
      const times = (seen.get(section + name) ?? 0) + 1;
      seen.set(section + name, times);
      cases.push({ section, name: times === 1 ? name : `${name} (${times})`, test });
    }
  };
  for (const suite of getConformanceSuite().suites) visit(suite, suite.name);
  return cases;
}

function needsMessages({ original }: IncrementalTest, section: string): boolean {
  if (original.resultMatcher.case === 'typedResult' || MESSAGE_SECTIONS.has(section)) return true;
  const bindings = JSON.stringify(Object.values(original.bindings), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return MESSAGES.test(original.expr) || MESSAGES.test(original.container) || bindings.includes('TestAllTypes');
}

/** A value of the test data as a value of this room. */
function fromProto(value: Value | undefined): unknown {
  const kind = value?.kind;
  switch (kind?.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
    case 'stringValue':
    case 'bytesValue':
      return kind.value;
    case 'uint64Value':
      return new CelUint(kind.value);
    case 'typeValue':
      return new CelTypeName(kind.value);
    case 'listValue':
      return kind.value.values.map(fromProto);
    case 'mapValue': {
      const map = new CelMap();
      for (const entry of kind.value.entries) map.add(fromProto(entry.key), fromProto(entry.value));
      return map;
    }
    case 'objectValue':
      return fromMessage(kind.value);
    default:
      return impossible('cel-conformance', `a value of kind ${String(kind?.case)}`);
  }
}

const Seconds = z.object({ $typeName: z.string(), seconds: z.bigint(), nanos: z.number() });

function fromMessage(any: Any): unknown {
  const { $typeName, seconds, nanos } = Seconds.parse(anyUnpack(any, getTestRegistry()));
  const ns = seconds * 1_000_000_000n + BigInt(nanos);
  return $typeName === 'google.protobuf.Timestamp' ? new CelTimestamp(ns) : new CelDuration(ns);
}

const PRIMITIVES: Readonly<Record<number, CelType>> = {
  1: 'bool',
  2: 'int',
  3: 'uint',
  4: 'double',
  5: 'string',
  6: 'bytes',
};
const WELL_KNOWN: Readonly<Record<number, CelType>> = { 1: 'dyn', 2: 'timestamp', 3: 'duration' };

function typeOf(type: Type | undefined): CelType {
  const kind = type?.typeKind;
  switch (kind?.case) {
    case 'primitive':
      return PRIMITIVES[kind.value] ?? 'dyn';
    case 'wellKnown':
      return WELL_KNOWN[kind.value] ?? 'dyn';
    case 'listType':
      return { list: typeOf(kind.value.elemType) };
    case 'mapType':
      return { map: typeOf(kind.value.valueType) };
    case 'null':
      return 'null';
    default:
      return 'dyn';
  }
}

function schemaOf({ original }: IncrementalTest, id: string): CelSchema {
  const variables: Record<string, CelType> = {};
  for (const name of Object.keys(original.bindings)) variables[name] = 'dyn';
  for (const { name, declKind } of original.typeEnv) {
    if (declKind.case === 'ident') variables[name] = typeOf(declKind.value.type);
  }
  return { id, variables };
}

/** Values in a form that tells kinds apart and compares by toEqual. */
function canonical(value: unknown): unknown {
  if (isNumber(value) && typeof value !== 'number') return { [kindOf(value)]: String(comparable(value)) };
  switch (kindOf(value)) {
    case 'double':
      return { double: value === 0 ? 0 : value };
    case 'list':
      return Array.isArray(value) ? { list: value.map(canonical) } : impossible('cel-conformance', 'a list');
    case 'map': {
      const entries = [...entriesOfMap(value)].map(([key, item]) => [JSON.stringify(canonical(key)), canonical(item)]);
      return { map: Object.fromEntries(entries) };
    }
    case 'timestamp':
      return { timestamp: String(toTimestampNs(value)) };
    case 'duration':
      return { duration: String(toDurationNs(value)) };
    case 'bytes':
      return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('hex') } : value;
    case 'type':
      return value instanceof CelTypeName ? { type: value.name } : value;
    default:
      return value;
  }
}

const compiler = createCelCompiler();

/** What went wrong, undefined when the test passes. */
function run(one: Case, index: number): string | undefined {
  const { original } = one.test;
  const matcher = original.resultMatcher;
  const wantsError = matcher.case === 'evalError' || matcher.case === 'anyEvalErrors';
  if (matcher.case === 'unknown' || matcher.case === 'anyUnknowns') return 'unknown values are not supported';
  try {
    const scope: Record<string, unknown> = {};
    for (const [name, binding] of Object.entries(original.bindings)) {
      scope[name] = binding.kind.case === 'value' ? fromProto(binding.kind.value) : undefined;
    }
    const actual = compiler.compile(original.expr, schemaOf(one.test, `case-${index}`)).evaluate(scope);
    if (wantsError) return 'no error';
    const wanted = matcher.case === 'value' ? fromProto(matcher.value) : true;
    const [seen, due] = [show(canonical(actual)), show(canonical(wanted))];
    return seen === due ? undefined : `got ${seen}, want ${due}`;
  } catch (caught) {
    return wantsError ? undefined : String(caught).slice(0, 200);
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'number' ? String(inner) : sorted(inner)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const ListSchema = z.object({
  total: z.number(),
  passing: z.number(),
  failing: z.record(z.string(), z.array(z.string())),
});

describe('CEL conformance', () => {
  const cases = loadCases();
  const list = ListSchema.parse(JSON.parse(readFileSync(LIST, 'utf8')));
  const expected = new Set(
    Object.entries(list.failing).flatMap(([section, names]) => names.map((name) => `${section} / ${name}`)),
  );
  const failed = new Map<string, string>();
  cases.forEach((one, index) => {
    const reason = run(one, index);
    if (reason !== undefined) failed.set(`${one.section} / ${one.name}`, reason);
  });
  if (process.env['DUCTOR_UPDATE_CEL_LIST'] === '1') update();

  function update(): void {
    const failing: Record<string, string[]> = {};
    for (const [section, names] of Object.entries(list.failing)) {
      const still = names.filter((name) => failed.has(`${section} / ${name}`));
      if (still.length > 0) failing[section] = still;
    }
    const passing = cases.length - Object.values(failing).flat().length;
    writeFileSync(LIST, `${JSON.stringify({ total: cases.length, passing, failing }, null, 2)}\n`);
  }

  it('runs all tests that need no messages', () => {
    expect(cases.length).toBe(list.total);
    expect(list.passing).toBe(cases.length - expected.size);
    expect(list.passing).toBeGreaterThanOrEqual(1401);
  });

  it('fails nowhere but where it is known to', () => {
    const unexpected = [...failed]
      .filter(([name]) => !expected.has(name))
      .map(([name, reason]) => `${name} => ${reason}`);
    expect(unexpected).toEqual([]);
  });

  it('has no test on the list that passes', () => {
    expect([...expected].filter((name) => !failed.has(name))).toEqual([]);
  });
});
