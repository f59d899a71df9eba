/** Every function of the language, by name. */
import { impossible } from '../../kernel/index.js';
import { conversionFunctions } from './conversions.js';
import type { CelFunction } from './define.js';
import { encodingFunctions } from './encoding.js';
import { formatFunctions } from './format.js';
import { mathFunctions } from './math.js';
import { patternFunctions } from './patterns.js';
import { stringFunctions } from './strings.js';
import { timeFunctions } from './time.js';

/** All functions, for the catalogue and for the documentation's test. */
export const ALL_FUNCTIONS: readonly CelFunction[] = [
  ...conversionFunctions,
  ...stringFunctions,
  ...formatFunctions,
  ...patternFunctions,
  ...mathFunctions,
  ...timeFunctions,
  ...encodingFunctions,
];

const functions = new Map<string, CelFunction>();
for (const one of ALL_FUNCTIONS) {
  const key = keyOf(one.name, one.isMethod);
  if (functions.has(key)) impossible('expr-function', `${key} is defined twice`);
  functions.set(key, one);
}

/** A function or method; undefined when there is none of the name. */
export function findFunction(name: string, isMethod: boolean): CelFunction | undefined {
  return functions.get(keyOf(name, isMethod));
}

/** Names of all methods, or of all functions. */
export function functionNames(isMethod: boolean): readonly string[] {
  return ALL_FUNCTIONS.filter((one) => one.isMethod === isMethod).map((one) => one.name);
}

function keyOf(name: string, isMethod: boolean): string {
  return isMethod ? `.${name}` : name;
}
