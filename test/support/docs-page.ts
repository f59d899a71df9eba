/** A page of docs/ that shows commands and what they answer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT } from './child.js';

/** What a page shows. */
export interface DocsPage {
  readonly text: string;
  /** Blocks of shell, as they stand. */
  readonly commands: readonly string[];
  /** Blocks of JSON, read. */
  readonly printed: readonly unknown[];
  /** The one command that holds a text; the test fails unless there is exactly one. */
  only(part: string): string;
}

/** @param name file under docs/ */
export function docsPage(name: string): DocsPage {
  const text = readFileSync(join(ROOT, 'docs', name), 'utf8');
  const blocks = (language: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code);
  const commands = blocks('sh').map((code) => code.trim());
  return {
    text,
    commands,
    printed: blocks('json').map((code): unknown => JSON.parse(code)),
    only(part) {
      const found = commands.filter((command) => command.includes(part));
      expect(found, `commands with ${part}`).toHaveLength(1);
      return found[0] ?? '';
    },
  };
}
