/** Links between our own texts lead somewhere. */
import { posix } from 'node:path';
import { type Finding, type SourceFile, lineAt } from '../source.js';

/** Every relative link of a Markdown file that leads to no file or folder of the tree. */
export function brokenLinks(files: readonly SourceFile[]): Finding[] {
  const known = new Set<string>();
  for (const { path } of files) {
    for (let each = path; each !== '.'; each = posix.dirname(each)) known.add(each);
  }
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g)].flatMap((match) => {
        const target = posix.join(posix.dirname(path), match[1] ?? '').replace(/\/$/, '');
        if (known.has(target)) return [];
        return [{ rule: 'broken-link', path, line: lineAt(text, match.index), message: `${target} is not there` }];
      }),
    );
}
