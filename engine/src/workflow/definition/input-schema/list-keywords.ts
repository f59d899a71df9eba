/** Keywords about lists. */
import { canonicalJson } from '../../../kernel/index.js';
import { childPath } from '../checking/problems.js';
import { fail, silently, type Check } from './check.js';
import { countOf, refuse, type Keyword, type KeywordCompiler } from './keyword.js';

type ListCheck = (...args: [visit: Parameters<Check>[0], list: readonly unknown[], place: string]) => boolean;

/** A check of lists that takes everything else. */
function onLists(check: ListCheck): Check {
  return (visit, value, place) => !Array.isArray(value) || check(visit, value, place);
}

function each(check: Check, from: number): Check {
  return onLists((visit, list, place) => {
    let isFine = true;
    for (let index = from; index < list.length; index += 1) {
      isFine = check(visit, list[index], childPath(place, index)) && isFine;
    }
    return isFine;
  });
}

function items(keyword: Keyword): Check | undefined {
  const { context, path, value, siblings } = keyword;
  if (Array.isArray(value)) return refuse(keyword, 'is a list of schemas', 'Use prefixItems for the first items.');
  const before = siblings['prefixItems'];
  return each(context.schema(path, value), Array.isArray(before) ? before.length : 0);
}

function prefixItems(keyword: Keyword): Check | undefined {
  const { context, path, value } = keyword;
  if (!Array.isArray(value)) return refuse(keyword, 'is not a list of schemas', 'Use a list, or items.');
  const checks: readonly Check[] = value.map((item, index) => context.schema(childPath(path, index), item));
  return onLists((visit, list, place) => {
    let isFine = true;
    for (const [index, item] of list.slice(0, checks.length).entries()) {
      isFine = (checks[index]?.(visit, item, childPath(place, index)) ?? true) && isFine;
    }
    return isFine;
  });
}

function itemCount(says: string, holds: (count: number, limit: number) => boolean): KeywordCompiler {
  return (keyword) => {
    const limit = countOf(keyword);
    if (limit === undefined) return undefined;
    return onLists(
      (visit, list, place) => holds(list.length, limit) || fail(visit, place, `has ${says} ${limit} items`),
    );
  };
}

function uniqueItems(keyword: Keyword): Check | undefined {
  if (typeof keyword.value !== 'boolean') return refuse(keyword, 'is not a boolean', 'Use true or false.');
  if (!keyword.value) return undefined;
  return onLists((visit, list, place) => {
    const texts = new Set(list.map(canonicalJson));
    return texts.size === list.length || fail(visit, place, 'has equal items');
  });
}

function contains(keyword: Keyword): Check {
  const { context, path, value, siblings } = keyword;
  const check = context.schema(path, value);
  const [min, max] = [siblings['minContains'], siblings['maxContains']];
  const [least, most] = [typeof min === 'number' ? min : 1, typeof max === 'number' ? max : Number.POSITIVE_INFINITY];
  return onLists((visit, list, place) => {
    const count = list.filter((item) => check(silently(visit), item, place)).length;
    if (count >= least && count <= most) return true;
    return fail(visit, place, `has ${count} items that fit "contains", which is not from ${least} to ${most}`);
  });
}

function containsBound(keyword: Keyword): Check | undefined {
  if (countOf(keyword) !== undefined && keyword.siblings['contains'] === undefined) {
    return refuse(keyword, 'has no effect without contains', 'Add contains, or remove it.');
  }
  return undefined;
}

/** Keywords by name. */
export const LIST_KEYWORDS: Readonly<Record<string, KeywordCompiler>> = {
  items,
  prefixItems,
  minItems: itemCount('fewer than', (count, limit) => count >= limit),
  maxItems: itemCount('more than', (count, limit) => count <= limit),
  uniqueItems,
  contains,
  minContains: containsBound,
  maxContains: containsBound,
};
