/** Files of certificates and keys. */
import { readFileSync } from 'node:fs';
import { DuctorError } from '../../kernel/index.js';

/**
 * Reads a PEM file.
 *
 * @param setting the setting that names it
 *
 * Throws invalid_argument when it cannot be read.
 */
export function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const details = [{ path: setting, value: path, problem: 'cannot be read', remedy: 'Name a PEM file.' }];
    throw new DuctorError('invalid_argument', `${setting}: ${path} cannot be read`, { details, cause });
  }
}
