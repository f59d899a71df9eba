// Files that are made from code, most of them pages of docs/: written by their script, held to the code by --check.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/**
 * Writes the page, or with --check compares it and ends the process with 1 when it holds anything else.
 *
 * @param {URL} file the page
 * @param {string} markdown its text, before formatting
 * @param {string} command what writes it, for the message
 * @param {string} parser its language; default markdown
 */
export async function writePage(file, markdown, command, parser = 'markdown') {
  const config = (await resolveConfig(file)) ?? {};
  const text = await format(markdown, { ...config, parser });
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${file.pathname.split('/').slice(-2).join('/')} is not what the code says: run ${command}`);
    process.exit(1);
  }
}
