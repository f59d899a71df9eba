/** Options that name a value of an enum: `--state wrap-up` is RECIPIENT_STATE_WRAP_UP. */
import { Option } from 'commander';

/** Names of an enum as generated code has them. */
type Names = Readonly<Record<string, string | number>>;

/** An option that takes some values of an enum; its value is the name in the contract. */
export function enumOption(
  flags: string,
  text: string,
  names: Names,
  prefix: string,
  left: readonly string[] = [],
): Option {
  const known = Object.keys(names).filter((name) => name.startsWith(prefix) && name !== `${prefix}UNSPECIFIED`);
  const choices = new Map(known.map((name) => [name.slice(prefix.length).toLowerCase().replaceAll('_', '-'), name]));
  for (const choice of left) choices.delete(choice);
  const option = new Option(flags, text).choices([...choices.keys()]);
  const check = option.parseArg;
  return option.argParser((choice: string) => {
    check?.(choice, undefined);
    return choices.get(choice);
  });
}

/** A value of an enum in a word: WRAP UP for RECIPIENT_STATE_WRAP_UP; its number when this command does not know it. */
export function enumWord(names: Names, prefix: string, value: number): string {
  const name = names[String(value)];
  return typeof name === 'string' ? name.replace(prefix, '').replaceAll('_', ' ') : String(value);
}
