/** The one way to take unsigned calls: said in so many words, and from this machine only. */
import { DuctorError } from '../errors.js';

/** Whether the address is of the loopback. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || plain === 'localhost' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/** Keys to verify with: those given, else those of the environment. */
export function givenKeys(
  signingKey: string | readonly string[] | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] {
  const given = signingKey ?? env['DUCTOR_SIGNING_KEY'] ?? [];
  const texts = typeof given === 'string' ? given.split(',') : given;
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

/** What is thrown where calls could not be verified. */
export function noKeys(): DuctorError {
  return new DuctorError('invalid_argument', 'there is no key to verify the engine with', {
    remedy:
      'pass signingKey (from `ductor endpoint show`) or set DUCTOR_SIGNING_KEY; for development on this machine ' +
      'alone, pass insecureDevelopment: true',
  });
}
