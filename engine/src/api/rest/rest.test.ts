import { fromBinary, toJson } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { DuctorError, type Problem } from '../../kernel/index.js';
import type { HttpBinding } from '../contract/contract.js';
import { boundMethod, syntheticContract } from '../testing/synthetic-contract.js';
import { maskedKeys } from './update-mask.js';
import { restMessage, type RestParts } from './request.js';
import { Router, type Route } from './router.js';

const contract = syntheticContract();

const PATCH: HttpBinding = { verb: 'PATCH', template: '/v1/things/{thing_id}', body: 'thing' };
const POST: HttpBinding = { verb: 'POST', template: '/v1/things/{thing_id}:change', body: '*' };
const GET: HttpBinding = { verb: 'GET', template: '/v1/things/{thing_id}', body: '' };

function routeOf(binding: HttpBinding): Route {
  const method = boundMethod(contract, binding);
  const place = new Router([method]).find(binding.template.replace('{thing_id}', 't1'));
  return place?.routes.get(binding.verb) ?? expect.fail('no route');
}

/** The request that comes of it, as JSON. */
function request(binding: HttpBinding, parts: Partial<RestParts>): unknown {
  const route = routeOf(binding);
  const bytes = restMessage(contract.registry, route, { values: ['t1'], query: '', body: undefined, ...parts });
  return toJson(route.method.input, fromBinary(route.method.input, bytes), { useProtoFieldName: true });
}

function problems(binding: HttpBinding, parts: Partial<RestParts>): readonly Problem[] {
  try {
    request(binding, parts);
  } catch (error) {
    if (error instanceof DuctorError) return error.details;
  }
  return expect.fail('nothing was wrong');
}

describe('routes', () => {
  const router = new Router([
    boundMethod(
      contract,
      ...[GET, PATCH, POST],
      { verb: 'GET', template: '/v1/things/latest', body: '' },
      { verb: 'GET', template: '/v1/things/{thing_id}/parts', body: '' },
      { verb: 'POST', template: '/v1/things:count', body: '' },
    ),
  ]);
  const found = (path: string): unknown => {
    const place = router.find(path);
    return place === undefined
      ? undefined
      : [[...place.routes.values()].map(({ binding }) => binding.template), place.values];
  };

  it.each([
    ['/v1/things/a', [[GET.template, PATCH.template], ['a']]],
    ['/v1/things/a%20b%2Fc', [[GET.template, PATCH.template], ['a b/c']]],
    ['/v1/things/a%3Achange', [[GET.template, PATCH.template], ['a:change']]],
    ['/v1/things/a:change', [[POST.template], ['a']]],
    ['/v1/things/a:b:change', [[POST.template], ['a:b']]],
    ['/v1/things/latest', [['/v1/things/latest'], []]],
    ['/v1/things/latest/parts', [['/v1/things/{thing_id}/parts'], ['latest']]],
    ['/v1/things:count', [['/v1/things:count'], []]],
    ['/v1/things/a:', [[GET.template, PATCH.template], ['a']]],
    ['/v1/things/:change', undefined],
    ['/v1/things/', undefined],
    ['/v1/things//parts', undefined],
    ['/v1/things/a:other', undefined],
    ['/v1/things/a/parts/b', undefined],
    ['/v1', undefined],
    ['/', undefined],
  ])('%s', (path, expected) => {
    expect(found(path)).toEqual(expected);
  });

  it('that are there twice, or that cannot be served, stop the engine', () => {
    expect(() => new Router([boundMethod(contract, GET, GET)])).toThrow(/route-taken/);
    expect(() => new Router([boundMethod(contract, { ...GET, template: '/v1/{thing_id=a/*}' })])).toThrow(
      /path-template/,
    );
  });
});

describe('queries', () => {
  it('reach into messages, lists, maps and texts of well-known types', () => {
    const query =
      'tags=a&tags=b%2Cc+d&thing.title=x&thing.is_open=true&thing.kinds=KIND_LARGE&thing.kinds=2&thing.ttl=5s';
    expect(request(GET, { query })).toEqual({
      thing_id: 't1',
      tags: ['a', 'b,c d'],
      thing: { title: 'x', is_open: true, kinds: ['KIND_LARGE', 'KIND_SMALL'], ttl: '5s' },
    });
    expect(request(GET, { query: 'thing.by_id.5=true&thing.by_id[6]=false' })).toEqual({
      thing_id: 't1',
      thing: { by_id: { 5: true, 6: false } },
    });
  });

  it.each([
    ['thing=1', 'thing'],
    ['thing.titel=1', 'thing.titel'],
    ['thing.title.x=1', 'thing.title.x'],
    ['thing.title=a&thing.title=b', 'thing.title'],
    ['thing.is_open=yes', 'thing.is_open'],
    ['thing.by_name.a=1', 'thing.by_name.a'],
    ['thing.by_id.5=true&thing.by_id.5=true', 'thing.by_id.5'],
    ['thing.by_id.__proto__=true', 'thing.by_id.__proto__'],
    ['thing.extra=x', 'thing.extra'],
    ['thing_id=t2', 'thing_id'],
    ['tags=%ff', 'query'],
  ])('such as %s are refused', (query, path) => {
    expect(problems(GET, { query }).map((problem) => problem.path)).toEqual([path]);
  });

  it('have no place beside a body that is everything, nor for what the body is', () => {
    expect(problems(POST, { query: 'tags=a', body: {} })[0]?.path).toBe('tags');
    expect(problems(PATCH, { query: 'thing.title=a', body: {} })[0]?.path).toBe('thing.title');
    expect(request(PATCH, { query: 'tags=a', body: { title: 'x' } })).toMatchObject({ tags: ['a'] });
  });
});

describe('the mask of a PATCH', () => {
  it('is the keys of the body, those with null too, by the names of the contract', () => {
    expect(request(PATCH, { body: { title: 'x', isOpen: null, amount_micros: '5' } })).toEqual({
      thing_id: 't1',
      thing: { title: 'x', amount_micros: '5' },
      update_mask: 'title,isOpen,amountMicros',
    });
  });

  it('goes down to fields of messages and keys of maps, and names lists and what is empty whole', () => {
    const body = {
      inner: { title: 'x', isOpen: null, inner: {} },
      by_name: { plain: { title: 'y' }, 'a `b': {} },
      ...{ kinds: ['KIND_LARGE'], extra: { free: 1 } },
    };
    expect(maskedKeys(routeOf(PATCH), body, {})?.paths).toEqual([
      ...['inner.title', 'inner.is_open', 'inner.inner', 'by_name.plain', 'by_name.`a ``b`', 'kinds', 'extra'],
    ]);
  });

  it('is there and empty when the body is', () => {
    expect(request(PATCH, { body: {} })).toEqual({ thing_id: 't1', thing: {}, update_mask: '' });
  });

  it("is the caller's own when it is in the query", () => {
    const sent = request(PATCH, { body: { title: 'x' }, query: 'update_mask=title,ratio' });
    expect(sent).toMatchObject({ update_mask: 'title,ratio' });
  });

  it('belongs to PATCH alone', () => {
    expect(request(POST, { body: { thing: { title: 'x' } } })).toEqual({ thing_id: 't1', thing: { title: 'x' } });
  });
});
