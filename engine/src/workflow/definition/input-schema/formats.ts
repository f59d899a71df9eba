/** Formats of texts, checked by zod. */
import { z } from 'zod';

/** RFC 3339 full-time. */
const FULL_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What checks a format. `uuid` takes any version, as JSON Schema does; a pattern beside it may say which. */
const FORMATS: Readonly<Record<string, z.ZodType>> = {
  'date-time': z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  time: z.string().regex(FULL_TIME),
  duration: z.iso.duration(),
  email: z.email(),
  hostname: z.hostname(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  mac: z.mac(),
  uri: z.url(),
  uuid: z.guid(),
  base64: z.base64(),
  base64url: z.base64url(),
  jwt: z.jwt(),
  e164: z.e164(),
  emoji: z.emoji(),
  nanoid: z.nanoid(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
};

/** Formats that zod writes beside a pattern which says it all. */
const NAMED_PATTERNS = /^(?:starts_with|ends_with|includes|lowercase|uppercase|regex|hex)$/;
const HASH_PATTERNS = /^(?:md5|sha1|sha256|sha384|sha512)_(?:hex|base64|base64url)$/;

/** Names of the formats. */
export const FORMAT_NAMES: readonly string[] = Object.keys(FORMATS);

/** The check of a format; undefined when it is not known. */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return format === undefined ? undefined : (text) => format.safeParse(text).success;
}

/** Whether a format only names what the pattern beside it checks. */
export function isNamedPattern(name: string): boolean {
  return NAMED_PATTERNS.test(name) || HASH_PATTERNS.test(name);
}

/**
 * Whether a pattern is the one zod writes for this format: then the format's check says it all, and the pattern, which
 * may hold look-ahead, need not be compiled.
 */
export function isPatternOfFormat(name: string, pattern: string): boolean {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return format !== undefined && name !== 'uuid' && z.toJSONSchema(format).pattern === pattern;
}
