/** Imports run downwards only and stop at a room's index.ts (docs/decisions/0001): the rules oxlint cannot express. */
import { type Import, importsOf } from '../imports.js';
import { type Finding, type SourceFile, isCode, isProduct, isTest } from '../source.js';

/**
 * Height of every room of the engine. A room imports rooms that stand lower; rooms of one height do not know each
 * other. A new room has to be entered here first.
 */
export const ROOM_HEIGHTS: Readonly<Record<string, number>> = {
  kernel: 0,
  store: 1,
  bus: 1,
  egress: 1,
  expressions: 1,
  telemetry: 1,
  tenancy: 2,
  pools: 3,
  capacity: 3,
  claims: 3,
  routing: 4,
  schedules: 4,
  workflow: 5,
  market: 5,
  settlement: 5,
  receipts: 5,
  registry: 5,
  connectors: 5,
  events: 5,
  ai: 5,
  bridge: 6,
  api: 7,
  cli: 9,
};

/** Height of the files directly in engine/src (wire, config): they may import every room's index. */
const WIRE_HEIGHT = 8;

/** Files above everything: what starts the engine, and what the package shows. */
const TOP_FILES = new Set(['engine/src/main.ts', 'engine/src/index.ts']);
const TOP_HEIGHT = 10;

/** Rooms that may touch generated messages: wire types stop here, journal entries stay in the workflow room. */
const GENERATED_READERS: Readonly<Record<string, readonly string[]>> = {
  'engine/src/gen/ductor/v1/': ['api', 'bridge', 'cli', ''],
  'engine/src/gen/ductor/relay/': ['api', 'bridge'],
  'engine/src/gen/ductor/journal/': ['workflow'],
  'engine/src/gen/': ['api', 'bridge', 'cli', 'workflow', ''],
};

/** What bridge-example may import beside its own files and Node's modules. */
const EXAMPLE_PACKAGES = new Set(['@ductor/sdk', 'express', 'zod']);

/** Room of an engine file; '' for the files directly in engine/src, undefined outside the engine. */
export function roomOf(path: string): string | undefined {
  const match = /^engine\/src\/(?:([^/]+)\/)?[^/]/.exec(path);
  return match ? (match[1] ?? '') : undefined;
}

/** Height of an engine file, undefined when nobody entered its room. */
function heightOf(path: string): number | undefined {
  if (TOP_FILES.has(path)) return TOP_HEIGHT;
  const room = roomOf(path) ?? '';
  return room === '' ? WIRE_HEIGHT : ROOM_HEIGHTS[room];
}

/** What is wrong with an import of generated code by a room, or undefined. */
function generatedProblem(room: string, target: string): string | undefined {
  const folder = Object.keys(GENERATED_READERS).find((prefix) => target.startsWith(prefix)) ?? '';
  const readers = GENERATED_READERS[folder] ?? [];
  if (readers.includes(room)) return undefined;
  return `${room} may not read ${folder}: wire types stop at api, bridge and cli, journal entries at workflow`;
}

/** What is wrong with an import from one engine file to another, or undefined. */
function engineProblem(from: string, target: string): string | undefined {
  const [room, other] = [roomOf(from) ?? '', roomOf(target) ?? ''];
  if (room === other && !TOP_FILES.has(target)) return undefined;
  if (other === 'gen') return generatedProblem(room, target);
  const [height, otherHeight] = [heightOf(from), heightOf(target)];
  if (height === undefined) return `room ${room} has no height: enter it in test/house/rules/directions.ts`;
  if (otherHeight === undefined) return `room ${other} has no height: enter it in test/house/rules/directions.ts`;
  if (height <= otherHeight) return `${room || 'wire'} may not import ${other || 'wire'}: imports run downwards only`;
  if (other === '' || target === `engine/src/${other}/index.ts`) return undefined;
  return `reaches inside ${other}: import its index.js`;
}

/** Workspace of a path, for example sdk. */
function workspaceOf(path: string): string {
  return path.slice(0, path.indexOf('/'));
}

/** What is wrong with an import that leads to a file of this project, or undefined. */
function innerProblem({ from, target = '' }: Import): string | undefined {
  if (isTest(target)) return 'product code may not import test code';
  const [workspace, other] = [workspaceOf(from), workspaceOf(target)];
  if (workspace !== other) {
    if (workspace === 'bridge-example' && target === 'sdk/src/index.ts') return undefined;
    return `${workspace} may not import ${other}`;
  }
  return workspace === 'engine' ? engineProblem(from, target) : undefined;
}

/** Name of the package a bare specifier belongs to. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Packages a workspace's package.json declares for run time. */
function declaredPackages(files: readonly SourceFile[], workspace: string): Set<string> {
  const manifest = files.find(({ path }) => path === `${workspace}/package.json`);
  if (!manifest) return new Set();
  const parsed: { dependencies?: object; optionalDependencies?: object } = JSON.parse(manifest.text);
  return new Set(Object.keys({ ...parsed.dependencies, ...parsed.optionalDependencies }));
}

/** What is wrong with an import of a package, or undefined. */
function packageProblem({ from, specifier }: Import, declared: ReadonlySet<string>): string | undefined {
  if (specifier.startsWith('node:')) return undefined;
  const name = packageOf(specifier);
  const workspace = workspaceOf(from);
  if (workspace === 'bridge-example' && !EXAMPLE_PACKAGES.has(name)) {
    return `bridge-example may not import ${name}: only ${[...EXAMPLE_PACKAGES].join(', ')} and node:*`;
  }
  return declared.has(name) ? undefined : `${name} is not declared in ${workspace}/package.json (builtins: node:*)`;
}

/** Every import of product code that goes where it must not. */
export function wrongImports(files: readonly SourceFile[]): Finding[] {
  const findings: Finding[] = [];
  for (const workspace of ['engine', 'sdk', 'bridge-example']) {
    const declared = declaredPackages(files, workspace);
    const own = files.filter(({ path }) => path.startsWith(`${workspace}/`) && isProduct(path));
    for (const found of importsOf(own)) {
      const isInner = found.specifier.startsWith('.') || found.target !== undefined;
      const message = isInner ? innerProblem(found) : packageProblem(found, declared);
      if (message !== undefined)
        findings.push({ rule: 'import-direction', path: found.from, line: found.line, message });
    }
  }
  return findings;
}

/** Imports among our files that lead to no file. */
export function danglingImports(files: readonly SourceFile[]): Finding[] {
  const known = new Set(files.map(({ path }) => path));
  return importsOf(files.filter(({ path }) => isCode(path)))
    .filter(({ target }) => target !== undefined && !known.has(target))
    .map(({ from, line, specifier }) => ({
      rule: 'dangling-import',
      path: from,
      line,
      message: `${specifier} leads to no file`,
    }));
}
