/** What a route requires of its caller, as data. Every route declares it. */

import type { KnownNode } from '../db/node-lookup.ts';
import type { ScopeId } from '../db/scope-grants.ts';
import type { GrantKind, GrantLevel, Permission } from '../domain/permissions.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { NodePrincipal, Principal, UserPrincipal } from './principal.ts';

/** The part of a node's configuration that access depends on: the configurations that it is made of, with their parameters. */
export interface NodeContent {
  parts: readonly {
    configurationName: string;
    parameters: { scopes: readonly MergedScope[] } | null;
  }[];
}

/** The scope of a parameter file that is merged. */
export type MergedScope = Pick<ScopeId, 'scopeTypeId' | 'scopeValueId'>;

export type Access =
  /** Everybody. With `knowsSession` the handler is told who is signed in with a session, if anybody is. */
  | { kind: 'public'; knowsSession?: true }
  /** Whoever sends the token of `HAWSER_METRICS_TOKEN`, which belongs to no user. Without that setting it is 404. */
  | { kind: 'metrics' }
  | UserAccess
  | PermissionAccess
  | ActionAccess
  | GrantAccess
  /** The node whose id is `{nodeId}` in the path, with its certificate. */
  | { kind: 'node:self' }
  /** The node itself, or a user with the permission. */
  | { kind: 'node:self-or-permission'; permission: Permission }
  | NodeOrReaderAccess;

/** The permissions of which a user needs any one; none where the access asks for something else. */
export function permissionsOf(access: Access): readonly Permission[] {
  if (access.kind === 'node:self-or-reader') return ['nodes.read'];
  if (!('permission' in access)) return [];
  const { permission, or }: { permission?: Permission; or?: Permission } = access;
  return [permission, or].filter((each) => each !== undefined);
}

/** A user with the permission, or with `or` in its place. */
interface PermissionAccess {
  kind: 'permission';
  permission: Permission;
  or?: Permission;
  /** Requires a session. Tokens get `session_required`. */
  session?: true;
}

/** A user with the permission of what the body asks for. It is checked when the body is there, by the body's `refuse`. */
interface ActionAccess {
  kind: 'action';
  /** The permissions by the actions that a body may ask for. */
  permissions: Readonly<Record<string, Permission>>;
}

/** Any signed-in user. */
interface UserAccess {
  kind: 'user';
  /** Requires a session. Tokens get `session_required`. */
  session?: true;
  /** Also for a token that has no scopes. */
  anyScopes?: true;
  /** Also while the user must change the password. */
  duringPasswordChange?: true;
}

/** A grant on the configuration, composite or parameters that `{name}` in the path names. */
export interface GrantAccess {
  kind: 'grant';
  on: GrantKind;
  level: GrantLevel;
  /** What the user needs beside the grant. It is looked at first. */
  permission?: Permission;
  /** For paths that have the configuration's id in place of its name. */
  by?: 'configurationId';
  /**
   * For parameters: the level on any part of them opens the route. `series` is one that is about a single scope: what it does
   * asks for the level on that (`requireSeries`), and refuses as this access would. `any` leaves out, or asks by the body.
   */
  part?: 'series' | 'any';
}

/**
 * The node itself, or a user with nodes.read who may read all that the node gets: what is assigned to it, each
 * configuration in that, and their parameters.
 */
interface NodeOrReaderAccess<C extends NodeContent = NodeContent> {
  kind: 'node:self-or-reader';
  /** Finds what the node gets now. It is called for users only. */
  contentOf(node: KnownNode): Awaitable<C>;
}

/** The row of the configuration or composite that a grant was checked on. */
export interface GrantedResource {
  id: string;
  name: string;
  level: GrantLevel;
}

/** Whether tokens are refused, whatever their scopes. */
export function needsSession(access: Access): boolean {
  return 'session' in access && access.session === true;
}

/** What a handler is told about its caller, by the access that its route declares. */
export type Subject<A extends Access> = A extends { kind: 'public' }
  ? { principal: A extends { knowsSession: true } ? Principal | null : null }
  : A extends { kind: 'metrics' }
    ? { principal: null }
    : A extends GrantAccess
      ? { principal: UserPrincipal; resource: GrantedResource }
      : A extends { kind: 'node:self' }
        ? { principal: NodePrincipal; node: KnownNode }
        : A extends NodeOrReaderAccess<infer C>
          ? // The content that a user's grants were checked on. It is missing when the node itself calls.
            { principal: Principal; node: KnownNode; content?: C }
          : A extends { kind: 'node:self-or-permission' }
            ? { principal: Principal; node: KnownNode }
            : { principal: UserPrincipal };

/** The same for any kind of access. */
export interface AnySubject {
  principal: Principal | null;
  resource?: GrantedResource | undefined;
  node?: KnownNode | undefined;
  content?: NodeContent | undefined;
}
