/** One word per thing: the words that docs/glossary.md rules out must not stand in names or texts. */
import { type Finding, type SourceFile, isProduct, lineAt } from '../source.js';

const GLOSSARY = 'docs/glossary.md';

/** Words the glossary rules out: the last column of its tables, split at commas. */
export function ruledOutWords(glossary: string): string[] {
  const rows = glossary.split('\n').filter((line) => /^\|.*\|$/.test(line) && !/^\|[\s|-]*$/.test(line));
  const cells = rows.map((row) => row.split('|').at(-2)?.trim() ?? '');
  return cells
    .flatMap((cell) => cell.split(',').map((word) => word.trim()))
    .filter((word) => word !== '' && word !== 'not');
}

/** Finds a word as prose, camelCase, snake_case, kebab-case or in capitals; not as a part of a longer word. */
function patternOf(word: string): RegExp {
  const [first = '', ...rest] = word.toLowerCase();
  const anyCase = (letter: string): string => `[${letter}${letter.toUpperCase()}]`;
  const start = `(?:(?<![a-zA-Z])${anyCase(first)}|(?<=[a-z])${first.toUpperCase()})`;
  const others = rest.map((letter) => (letter === ' ' ? '[\\s_-]?' : anyCase(letter)));
  return new RegExp(`${start}${others.join('')}(?![a-z])`, 'g');
}

/** Files the glossary rules: product code, the contract, migrations and texts. */
function isRuled(path: string): boolean {
  if (path === GLOSSARY) return false;
  return isProduct(path) || /^(proto|engine\/migrations|docs)\//.test(path) || /^[A-Z]+\.md$/.test(path);
}

/** Every use of a word that the glossary rules out. */
export function ruledOutUses(files: readonly SourceFile[]): Finding[] {
  const glossary = files.find(({ path }) => path === GLOSSARY);
  const words = glossary ? ruledOutWords(glossary.text) : [];
  return files
    .filter(({ path }) => isRuled(path))
    .flatMap(({ path, text }) =>
      words.flatMap((word) =>
        [...text.matchAll(patternOf(word))].map(({ index }) => {
          const message = `"${word}" is ruled out by ${GLOSSARY}`;
          return { rule: 'glossary', path, line: lineAt(text, index), message };
        }),
      ),
    );
}
