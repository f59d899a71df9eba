/**
 * The ratchet: what is red today is counted per rule and file in ratchet.json and may only shrink. A higher count
 * fails; a lower one fails too, with the request to lower the record (`npm run house -- --lower`), so that what was
 * won is never lost again.
 */
import type { Finding } from './source.js';

/** Accepted findings: rule, then path, then how many. */
export type Ratchet = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Findings counted as the ratchet keeps them; rules and paths in order. */
export function count(findings: readonly Finding[]): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { rule, path } of findings.toSorted((a, b) =>
    `${a.rule} ${a.path}`.localeCompare(`${b.rule} ${b.path}`),
  )) {
    const paths = (counts[rule] ??= {});
    paths[path] = (paths[path] ?? 0) + 1;
  }
  return counts;
}

/** What the ratchet objects to, one text per rule and file; empty when all is as recorded. */
export function objections(findings: readonly Finding[], accepted: Ratchet): string[] {
  const texts: string[] = [];
  const counts = count(findings);
  for (const [rule, paths] of Object.entries(counts)) {
    for (const [path, found] of Object.entries(paths)) {
      const allowed = accepted[rule]?.[path] ?? 0;
      if (found <= allowed) continue;
      const places = findings.filter((each) => each.rule === rule && each.path === path);
      const list = places.map(({ line, message }) => `  ${path}:${line} ${message}`).join('\n');
      texts.push(`${rule}: ${found} in ${path}, ${allowed} accepted\n${list}`);
    }
  }
  for (const [rule, paths] of Object.entries(accepted)) {
    for (const [path, allowed] of Object.entries(paths)) {
      const found = counts[rule]?.[path] ?? 0;
      if (found < allowed)
        texts.push(`${rule}: ${path} is down to ${found} from ${allowed}; lower it: npm run house -- --lower`);
    }
  }
  return texts;
}

/** The ratchet with every record lowered to what is there; never raised. */
export function lowered(findings: readonly Finding[], accepted: Ratchet): Ratchet {
  const counts = count(findings);
  const next: Record<string, Record<string, number>> = {};
  for (const [rule, paths] of Object.entries(accepted)) {
    for (const [path, allowed] of Object.entries(paths)) {
      const kept = Math.min(allowed, counts[rule]?.[path] ?? 0);
      if (kept > 0) (next[rule] ??= {})[path] = kept;
    }
  }
  return next;
}
