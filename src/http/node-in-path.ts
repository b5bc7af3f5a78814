/** Users may name a node in a path by its fqdn. Behind the access check all code sees the id alone. */

import type { NodeLookup } from '../db/node-lookup.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { isId } from '../lib/ids.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';

/**
 * Puts the id of the node in place of its fqdn, if the path of a user's request names a node.
 * @returns false if the path has neither an id, of a known node or not, nor the fqdn of a node
 */
export function putNodeId(ctx: Exchange, route: Route, nodes: NodeLookup): Awaitable<boolean> {
  const text = ctx.params['nodeId'];
  if (text === undefined) return true;
  return andThen(nodes.findId(text), (id) => {
    // The handler finds out what an unknown id means.
    if (id === null) return isId(text);
    if (id !== text) putId(ctx, route, id);
    return true;
  });
}

function putId(ctx: Exchange, route: Route, id: string): void {
  ctx.params['nodeId'] = id;
  const place = route.path.split('/').indexOf('{nodeId}');
  ctx.state.pathById = ctx.path.split('/').with(place, id).join('/');
}
