/** What a route asks of its caller, as data: the one field that no route can leave out. */

import type { KnownNode } from '../db/node-lookup.ts';
import type { GrantKind, GrantLevel, Permission } from '../domain/permissions.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { NodePrincipal, Principal, UserPrincipal } from './principal.ts';

/** Nobody is asked who they are. */
interface PublicAccess {
  kind: 'public';
  /** The handler is told all the same who is signed in with a session, if anybody is. */
  knowsSession?: true;
}

/** Whoever sends the token of `HAWSER_METRICS_TOKEN`, which is nobody's; where none is configured, nothing is there. */
interface MetricsAccess {
  kind: 'metrics';
}

/** Any signed-in user. */
interface UserAccess {
  kind: 'user';
  /** Only with a session: tokens get `session_required`. */
  session?: true;
  /** Also for a token without a single scope. */
  anyScopes?: true;
  /** Also while the password must be changed. */
  duringPasswordChange?: true;
}

interface PermissionAccess {
  kind: 'permission';
  permission: Permission;
}

/** A grant on the configuration, composite or parameter set that `{name}` in the path names. */
export interface GrantAccess {
  kind: 'grant';
  on: GrantKind;
  level: GrantLevel;
  /** Set where the path has the configuration's id in place of its name. */
  by?: 'configurationId';
}

/** The node whose certificate it is, and no other: `{nodeId}` in the path must be its id. */
interface NodeSelfAccess {
  kind: 'node:self';
}

/** The node itself, or a user with the permission. */
interface NodeOrPermissionAccess {
  kind: 'node:self-or-permission';
  permission: Permission;
}

/** What a node gets, as far as access depends on it: the configurations that it is made of. */
export interface NodeContent {
  parts: readonly { configurationName: string }[];
}

/**
 * The node itself, or a user with nodes.read and Read on all that the node gets: on what is assigned to it, and on each
 * configuration in it and its parameters.
 */
interface NodeOrReaderAccess<C extends NodeContent = NodeContent> {
  kind: 'node:self-or-reader';
  /** What the node gets now. Asked when a user calls; for the node itself the handler finds it out. */
  contentOf(node: KnownNode): Awaitable<C>;
}

export type Access =
  | PublicAccess
  | MetricsAccess
  | UserAccess
  | PermissionAccess
  | GrantAccess
  | NodeSelfAccess
  | NodeOrPermissionAccess
  | NodeOrReaderAccess;

/** The registry row that a grant was checked on. */
export interface GrantedResource {
  id: string;
  name: string;
  level: GrantLevel;
}

/** What a handler is told about its caller, by the access its route declares. */
export type Subject<A extends Access> = A extends PublicAccess
  ? { principal: A extends { knowsSession: true } ? Principal | null : null }
  : A extends MetricsAccess
    ? { principal: null }
    : A extends GrantAccess
      ? { principal: UserPrincipal; resource: GrantedResource }
      : A extends NodeSelfAccess
        ? { principal: NodePrincipal; node: KnownNode }
        : A extends NodeOrReaderAccess<infer C>
          ? // The very content that a user's grants were checked on; of the node itself nothing was checked.
            { principal: Principal; node: KnownNode; content?: C }
          : A extends NodeOrPermissionAccess
            ? { principal: Principal; node: KnownNode }
            : { principal: UserPrincipal };

/** The same before the route's own kind of access is known. */
export interface AnySubject {
  principal: Principal | null;
  resource?: GrantedResource | undefined;
  node?: KnownNode | undefined;
  content?: NodeContent | undefined;
}
