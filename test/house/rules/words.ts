/** Words and addresses that must not stand in the project. */
import { type Finding, type SourceFile, lineAt } from '../source.js';

/** Patterns are put together from parts, so that this file does not object to itself. */
const joined = (...parts: string[]): string => parts.join('');

/** Marks of unfinished work, in any file. */
const MARKS = new RegExp(
  `\\b(${[joined('TO', 'DO'), joined('FIX', 'ME'), joined('X', 'XX'), joined('HA', 'CK')].join('|')})\\b`,
  'g',
);

/** Tests that run alone or not at all. */
const FOCUS = new RegExp(`\\.(${joined('on', 'ly')}|${joined('sk', 'ip')})\\(`, 'g');

/** Folders of the machine something was made on. */
const MACHINE_PATHS = new RegExp(
  [
    joined('/wo', 'rk/(main|shared|notes)'),
    joined('/ho', 'me/[a-z]'),
    joined('/ro', 'ot/'),
    joined('/tmp/', 'bash'),
  ].join('|'),
  'g',
);

/** Hosts of package registries and mirrors in a lock file. */
const RESOLVED = new RegExp(joined('"reso', 'lved": "https?:'), 'g');

/** One finding per match of the pattern in the files. */
function matches(rule: string, files: readonly SourceFile[], pattern: RegExp, say: (hit: string) => string): Finding[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map((match) => ({
      rule,
      path,
      line: lineAt(text, match.index),
      message: say(match[0]),
    })),
  );
}

/** Marks of unfinished work and tests that are focused or left out. */
export function bannedWords(files: readonly SourceFile[]): Finding[] {
  const looked = files.filter(
    ({ path }) => !path.includes('/gen/') && path !== 'package-lock.json' && path !== 'LICENSE',
  );
  return [
    ...matches('banned-word', looked, MARKS, (hit) => `the word ${hit}: finish it, or file an issue`),
    ...matches('banned-word', looked, FOCUS, (hit) => `${hit}…): run every test`),
  ];
}

/** Paths of somebody's machine. */
export function machinePaths(files: readonly SourceFile[]): Finding[] {
  return matches('machine-path', files, MACHINE_PATHS, (hit) => `a path of one machine: ${hit}`);
}

/** Addresses of registries in lock files: installs must work with any registry. */
export function registryHosts(files: readonly SourceFile[]): Finding[] {
  const locks = files.filter(({ path }) => /(^|\/)(package-lock|npm-shrinkwrap)\.json$/.test(path));
  return matches('registry-host', locks, RESOLVED, () => 'a registry address: install with the project’s .npmrc');
}
