/** Decides for every route whether the caller may use it: 401, 403, or 404 for what the caller may not see. */

import type { Database, Db } from '../db/database.ts';
import type { KnownNode } from '../db/node-lookup.ts';
import { keyOfScope, restrictedScopes } from '../db/scope-grants.ts';
import { GRANT_RULES, type GrantKind, type GrantLevel, reaches } from '../domain/permissions.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { forbidden, notFound, unauthenticated } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import {
  type Access,
  type AnySubject,
  type GrantedResource,
  type MergedScope,
  type NodeContent,
  needsSession,
  permissionsOf,
} from './access.ts';
import { type NodePrincipal, type Principal, requirePermission, type UserPrincipal } from './principal.ts';
import {
  type Content,
  contentNamed,
  grantedToUser,
  heldLevel,
  keyOfUnknownScope,
  levelOnAnyScope,
  levelWith,
  mayReadAllOf,
} from './rights.ts';

type PathParameters = Readonly<Record<string, string>>;

/**
 * Checks a caller against the access of a route.
 * @throws HawserError unauthenticated without a caller, forbidden, or not_found when the caller may not know that the
 *   resource exists
 */
export function authorize(
  database: Database,
  access: Access,
  principal: Principal | null,
  params: PathParameters,
): Awaitable<AnySubject> {
  if (access.kind === 'public') return { principal: access.knowsSession ? principal : null };
  // The metrics token names no caller. It was checked where other credentials are read.
  if (access.kind === 'metrics') return { principal: null };
  if (principal === null) throw unauthenticated('Sign in, or send a token or a client certificate');
  if (principal.kind === 'node') return authorizeNode(access, principal, params);
  return authorizeUser(database, access, principal, params);
}

function authorizeNode(access: Access, principal: NodePrincipal, params: PathParameters): AnySubject {
  const { node } = principal;
  if (!access.kind.startsWith('node:self')) throw forbidden('A node certificate does not open this route');
  if (params['nodeId'] !== node.nodeId) throw forbidden('The certificate belongs to another node');
  return { principal, node };
}

async function authorizeUser(
  database: Database,
  access: Exclude<Access, { kind: 'public' | 'metrics' }>,
  principal: UserPrincipal,
  params: PathParameters,
): Promise<AnySubject> {
  checkCredential(access, principal);
  switch (access.kind) {
    case 'user':
    case 'permission':
    case 'action':
      return { principal };
    case 'grant': {
      const { on, level, by, part } = access;
      const named = by ? { id: params[by] ?? '' } : { name: params['name'] ?? '' };
      const resource = part
        ? await grantedPart(database.read, principal, { level, part }, named)
        : await grantedResource(database.read, principal, on, level, named);
      return { principal, resource };
    }
    case 'node:self':
      throw forbidden('Only the node itself may do this, with its certificate');
    case 'node:self-or-permission':
      return { principal, node: await knownNode(database, params) };
    case 'node:self-or-reader': {
      const node = await knownNode(database, params);
      return { principal, node, content: await readableContent(database.read, principal, access, node) };
    }
  }
}

/** Checks what does not depend on the path. A token without scopes, too, is told which permission it lacks. */
function checkCredential(access: Access, principal: UserPrincipal): void {
  const user = access.kind === 'user' ? access : null;
  if (principal.requirePasswordChange && !user?.duringPasswordChange) {
    throw forbidden(
      'The password must be changed first: POST /api/v1/auth/change-password',
      'password_change_required',
    );
  }
  if (needsSession(access) && principal.authMethod !== 'Session') {
    throw forbidden('This needs a session; a token may not do it', 'session_required');
  }
  requirePermission(principal, ...permissionsOf(access));
  if (principal.scopes?.size === 0 && !user?.anyScopes) throw forbidden('The token has no scopes');
}

async function knownNode(database: Database, params: PathParameters): Promise<KnownNode> {
  const nodeId = params['nodeId'] ?? '';
  const node = isId(nodeId) ? await database.nodeLookup.byNodeId(nodeId) : null;
  if (node === null) throw notFound('No such node');
  return node;
}

/**
 * Finds what the node gets, and checks that the user may read all of it. The assignment is checked before the content is
 * found, and then each configuration in this content.
 * @throws HawserError not_found
 */
async function readableContent(
  db: Db,
  principal: UserPrincipal,
  access: Extract<Access, { kind: 'node:self-or-reader' }>,
  node: KnownNode,
): Promise<NodeContent> {
  const { configurationId = null, compositeId = null } = node.assignment ?? {};
  const assigned = (id: string | null) => (id === null ? [] : [id]);
  const [configurations, composites] = [assigned(configurationId), assigned(compositeId)];
  await requireAllOf(db, principal, { configurations, composites, scopes: [] });
  const content = await access.contentOf(node);
  await requireAllOf(db, principal, await contentOfParts(db, content.parts));
  return content;
}

/** The content that these parts are, with the scopes whose files are merged. */
async function contentOfParts(db: Db, parts: NamedContent['parts']): Promise<Content> {
  const named = await contentNamed(db, { configurations: parts.map((part) => part.configurationName) });
  const scopes = parts.flatMap(({ parameters }, at) => {
    const configurationId = named.configurations[at] ?? '';
    return (parameters?.scopes ?? []).map((scope) =>
      scope === null ? keyOfUnknownScope(configurationId) : keyOfScope({ configurationId, ...scope }),
    );
  });
  return { ...named, scopes };
}

/** The configuration or composite that something was made of, and its parts, by name. */
export interface NamedContent {
  configurationName: string;
  isComposite: boolean;
  parts: readonly {
    configurationName: string;
    /** The scopes of the files that are merged; null for one of which nothing is known. */
    parameters: { scopes: readonly (MergedScope | null)[] } | null;
  }[];
}

/**
 * Checks that a user may read all of what something was made of: the composite, each configuration and its parameters. What
 * has been deleted since is readable for those alone who may read every one of its kind.
 * @throws HawserError not_found
 */
export async function requireReadableContent(
  db: Db,
  principal: UserPrincipal,
  { configurationName, isComposite, parts }: NamedContent,
): Promise<void> {
  const { composites } = await contentNamed(db, { composites: isComposite ? [configurationName] : [] });
  await requireAllOf(db, principal, { ...(await contentOfParts(db, parts)), composites });
}

/** @throws HawserError not_found when the user may not read all of it */
async function requireAllOf(db: Db, principal: UserPrincipal, content: Content): Promise<void> {
  if (!(await mayReadAllOf(db, principal, content))) throw unreadable();
}

const unreadable = () => notFound('No configuration that you may read');

/**
 * Finds the named resource and the caller's level on it.
 * @throws HawserError not_found when the caller may not read it, forbidden when the level is too low
 */
export async function grantedResource(
  db: Db,
  principal: UserPrincipal,
  on: GrantKind,
  needed: GrantLevel,
  named: { name: string } | { id: string },
): Promise<GrantedResource> {
  const row = await findResource(db, on, named);
  const level = row ? await heldLevel(db, principal, on, row.id) : null;
  if (!row || level === null) throw noResource(principal, on, named);
  if (!reaches(level, needed)) throw forbidden(`This needs ${needed} on the ${LABELS[on]}`);
  return { ...row, level };
}

/**
 * Finds the configuration, and the caller's highest level on any part of its parameters. What is about one scope asks again.
 * @throws HawserError as `grantedResource`
 */
export async function grantedPart(
  db: Db,
  principal: UserPrincipal,
  { level: needed, part }: { level: GrantLevel; part: 'series' | 'any' },
  named: { name: string } | { id: string },
): Promise<GrantedResource> {
  const row = await findResource(db, 'parameters', named);
  const granted = row && (await grantedToUser(db, principal.userId, [row.id]));
  const level = row && granted ? levelOnAnyScope(granted, principal, row.id) : null;
  if (!row || !granted || level === null) throw noResource(principal, 'parameters', named);
  if (!reaches(level, needed)) {
    // Of one scope nothing may be readable, and that is another refusal.
    const isReadable =
      part === 'any' ||
      (levelWith(granted, principal, 'parameters', row.id) !== null &&
        (await restrictedScopes(db, [row.id])).length === 0);
    if (isReadable) throw forbidden(`This needs ${needed} on the ${LABELS.parameters}`);
  }
  return { ...row, level };
}

function findResource(db: Db, on: GrantKind, named: { name: string } | { id: string }) {
  const [column, value] = 'id' in named ? (['id', named.id] as const) : (['name', named.name] as const);
  const table = on === 'composite' ? 'composites' : 'configurations';
  return db.selectFrom(table).select(['id', 'name']).where(column, '=', value).executeTakeFirst();
}

const noResource = (principal: UserPrincipal, on: GrantKind, named: object) =>
  notFound(`No ${LABELS[on]} of this ${'id' in named ? 'id' : 'name'}${scopeHint(principal, on)}`);

/** Says of a token that may use no grants why it finds nothing. It is the same whether the resource exists or not. */
function scopeHint({ scopes, permissions }: UserPrincipal, on: GrantKind): string {
  const { scope, override } = GRANT_RULES[on];
  if (scopes === null || scopes.has(scope) || permissions.has(override)) return '';
  return `; the scopes of this token do not include ${scope}`;
}

const LABELS: Record<GrantKind, string> = {
  configuration: 'configuration',
  composite: 'composite configuration',
  parameters: 'configuration',
};
