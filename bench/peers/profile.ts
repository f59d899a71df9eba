/** CPU profiles of the processes of an arena: summed up by function and by package. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Arena } from './peer.js';

const profile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

/** A CPU profile as V8 writes it. */
export type CpuProfile = z.output<typeof profile>;

/** Time spent in one function itself, or in all functions of one part. */
export interface SelfTime {
  readonly name: string;
  readonly ms: number;
  /** Of the time the process was not idle, 0 to 1. */
  readonly share: number;
}

/** A profile summed up. */
export interface ProfileSummary {
  /** Time that was profiled, ms. */
  readonly wallMs: number;
  /** Of that, 0 to 1, not idle. */
  readonly busyShare: number;
  /** Most expensive first. */
  readonly functions: readonly SelfTime[];
  readonly parts: readonly SelfTime[];
}

/** Idle time, and `dispatch`: the profiler's own orders. */
const IDLE = new Set(['(idle)', '(program)', '(root)', 'dispatch']);

/** Does the work while every process of the arena is profiled; files are <prefix>-<role>.cpuprofile. */
export async function profiled<T>(arena: Arena, prefix: string | undefined, work: () => Promise<T>): Promise<T> {
  if (prefix === undefined) return work();
  const members = [...arena.members];
  await Promise.all(members.map(([, member]) => member.ask({ do: 'profile-start' })));
  const value = await work();
  await Promise.all(
    members.map(([role, member]) => member.ask({ do: 'profile-stop', file: `${prefix}-${role}.cpuprofile` })),
  );
  return value;
}

/** Reads a profile that was written. */
export function readProfile(file: string): CpuProfile {
  return profile.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Sums a profile up. Pure. */
export function summarise({ nodes, samples, timeDeltas }: CpuProfile): ProfileSummary {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byFunction = new Map<string, number>();
  const byPart = new Map<string, number>();
  let wallUs = 0;
  let busyUs = 0;
  samples.forEach((id, index) => {
    const us = Math.max(0, timeDeltas[index] ?? 0);
    const frame = frames.get(id);
    wallUs += us;
    if (frame === undefined || (frame.url === '' && IDLE.has(frame.functionName))) return;
    busyUs += us;
    add(byFunction, nameOf(frame), us);
    add(byPart, partOf(frame), us);
  });
  const sorted = (times: ReadonlyMap<string, number>): SelfTime[] =>
    [...times].map(([name, us]) => ({ name, ms: us / 1000, share: us / busyUs })).sort((a, b) => b.ms - a.ms);
  return {
    wallMs: wallUs / 1000,
    busyShare: wallUs === 0 ? 0 : busyUs / wallUs,
    functions: sorted(byFunction),
    parts: sorted(byPart),
  };
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${shortUrl(url)}:${lineNumber + 1}`;
}

/** A package, a room of the engine, Node itself, or the garbage collector. */
function partOf({ functionName, url }: Frame): string {
  if (url === '') return functionName === '(garbage collector)' ? functionName : '(native)';
  if (url.startsWith('node:')) return 'node';
  const path = shortUrl(url);
  const dependency = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (dependency !== undefined) return dependency;
  return path.split('/').slice(0, -1).slice(0, 4).join('/');
}

function shortUrl(url: string): string {
  const modules = url.lastIndexOf('node_modules/');
  if (modules !== -1) return url.slice(modules);
  const workspace = /\/((?:engine|sdk|bench)\/dist\/.*)$/.exec(url);
  return workspace?.[1] ?? url;
}
