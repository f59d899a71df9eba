/** All house rules together. */
import { machineReads } from './rules/clock.js';
import { importCycles } from './rules/cycles.js';
import { deadExports } from './rules/dead-exports.js';
import { danglingImports, wrongImports } from './rules/directions.js';
import { ruledOutUses } from './rules/glossary.js';
import { brokenLinks } from './rules/links.js';
import { longFiles, longFunctions, longLines } from './rules/size.js';
import { anyTypes, bareErrors, nonNullAssertions } from './rules/types.js';
import { bannedWords, machinePaths, registryHosts } from './rules/words.js';
import { type Finding, type SourceFile, isCode } from './source.js';
import { parse } from './syntax.js';

/** Files that are started, not imported. */
const ENTRIES = ['engine/src/main.ts'];

/** Files the parser does not understand; the other rules leave them out. */
function unparsable(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      try {
        parse(file);
        return [];
      } catch (error) {
        return [{ rule: 'syntax', path: file.path, line: 0, message: String(error) }];
      }
    });
}

/** Everything the house objects to in the tree, rule by rule. */
export function inspect(tree: readonly SourceFile[]): Finding[] {
  const broken = unparsable(tree);
  const paths = new Set(broken.map(({ path }) => path));
  const files = tree.filter(({ path }) => !paths.has(path));
  const rules = [
    longFiles,
    longLines,
    longFunctions,
    anyTypes,
    nonNullAssertions,
    bareErrors,
    wrongImports,
    danglingImports,
    importCycles,
    machineReads,
    bannedWords,
    machinePaths,
    registryHosts,
    ruledOutUses,
    brokenLinks,
    (all: readonly SourceFile[]) => deadExports(all, ENTRIES),
  ];
  return [...broken, ...rules.flatMap((rule) => rule(files))];
}
