/** What the address of a request says: the members of its path and of its query, by the schemas of its route. */

import { notFound } from '../lib/errors.ts';
import type { Route } from './route.ts';
import { validate } from './validation.ts';

/** The path parameters and the query, parsed by the route's schemas. */
export interface Address {
  params: unknown;
  query: unknown;
}

/** @throws HawserError not_found; invalid for the query */
export function readAddress(route: Route, params: Record<string, string>, query: object): Address {
  const parsed = route.params?.safeParse(params);
  // A path parameter that breaks its schema names nothing.
  if (parsed?.success === false) throw notFound('Nothing has this address');
  return {
    params: parsed === undefined ? params : parsed.data,
    query: route.query ? validate(route.query, query, 'query') : undefined,
  };
}
