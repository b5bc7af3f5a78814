/** What a user may do with the parameters of one scope, for whoever has the names of the scope and not its ids. */

import type { Db } from '../db/database.ts';
import { NamesOfScopes, type RestrictedScope, restrictedScopes, type ScopeName } from '../db/scope-grants.ts';
import { type GrantLevel, lowerLevel, reaches } from '../domain/permissions.ts';
import { forbidden, notFound } from '../lib/errors.ts';
import type { UserPrincipal } from './principal.ts';
import { type GrantedLevels, grantedToUser, levelOnScope } from './rights.ts';

export class SeriesRights {
  private readonly principal: UserPrincipal;
  private readonly configurationId: string;
  private readonly granted: GrantedLevels;
  private readonly restricted: readonly RestrictedScope[];
  /** The scopes on which grants are held. */
  private readonly held: readonly RestrictedScope[];
  private readonly names: NamesOfScopes;

  private constructor(
    principal: UserPrincipal,
    configurationId: string,
    known: {
      granted: GrantedLevels;
      restricted: readonly RestrictedScope[];
      held: readonly RestrictedScope[];
      names: NamesOfScopes;
    },
  ) {
    this.principal = principal;
    this.configurationId = configurationId;
    this.granted = known.granted;
    this.restricted = known.restricted;
    this.held = known.held;
    this.names = known.names;
  }

  /** Of one configuration. What the caller has read of its repository must be older than this. */
  static async of(db: Db, principal: UserPrincipal, configurationId: string): Promise<SeriesRights> {
    const granted = await grantedToUser(db, principal.userId, [configurationId]);
    const restricted = await restrictedScopes(db, [configurationId]);
    const held = [...granted.scopes.keys()].map((key) => {
      const [, scopeTypeId = '', scopeValueId = null] = key.split('/');
      return { configurationId, scopeTypeId, scopeValueId, fqdn: null };
    });
    const names = await NamesOfScopes.of(db, [...restricted, ...held]);
    return new SeriesRights(principal, configurationId, { granted, restricted, held, names });
  }

  /**
   * The level on the files of a scope. Under the name of a node there may be files of one that was deleted, so the lowest of
   * all restricted scopes of the name counts.
   */
  levelOn(scope: ScopeName): GrantLevel | null {
    const { granted, principal, names, configurationId } = this;
    const restricted = this.restricted.filter((each) => names.isOf(each, scope));
    if (restricted.length > 0)
      return restricted
        .map((each) => levelOnScope(granted, principal, each, true))
        .reduce((lowest, level) => lowerLevel(lowest, level));
    const own = this.held.find((each) => each.scopeValueId !== null && names.isOf(each, scope));
    const ofType = this.held.find(({ scopeTypeId }) => names.isOfType(scopeTypeId, scope.scopeType));
    const { scopeTypeId, scopeValueId } = own ?? {
      scopeTypeId: ofType?.scopeTypeId ?? '?',
      scopeValueId: null,
    };
    return levelOnScope(granted, principal, { configurationId, scopeTypeId, scopeValueId }, false);
  }

  mayRead(scope: ScopeName): boolean {
    return this.levelOn(scope) !== null;
  }

  /** @throws HawserError not_found below Read, forbidden below what is needed */
  require(scope: ScopeName, needed: GrantLevel): void {
    const level = this.levelOn(scope);
    if (level === null) throw notFound('No parameters of this scope that you may read');
    if (!reaches(level, needed)) throw forbidden(`This needs ${needed} on the parameters of this scope`);
  }
}

/**
 * Checks the caller's level on the parameters of one scope.
 * @throws HawserError not_found below Read, forbidden below what is needed
 */
export async function requireSeries(
  db: Db,
  principal: UserPrincipal,
  { id }: { id: string },
  scope: ScopeName,
  needed: GrantLevel,
): Promise<void> {
  (await SeriesRights.of(db, principal, id)).require(scope, needed);
}
