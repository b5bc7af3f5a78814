/** Which published parameter files are offered. Those of a node that was deleted are offered to nobody. */

import type { Db } from '../db/database.ts';
import { ownersOf } from '../db/file-owners.ts';
import { NODE_SCOPE_TYPE } from '../domain/scopes.ts';
import { ownedBy } from '../domain/version-choice.ts';
import type { ParameterScope, VersionRef } from '../versions/store.ts';

/** Tells of the published files of a scope those that are offered. */
export type OfferedFiles = (scope: ParameterScope, published: readonly VersionRef[]) => readonly VersionRef[];

const ofNode = ({ scopeType, value }: ParameterScope) => (scopeType === NODE_SCOPE_TYPE ? value : null);

/** @param scopes are those that will be asked for */
export async function readOfferedFiles(db: Db, scopes: readonly ParameterScope[]): Promise<OfferedFiles> {
  const fqdns = scopes.flatMap((scope) => ofNode(scope) ?? []);
  const owners = fqdns.length === 0 ? null : await ownersOf(db, fqdns);
  return (scope, published) => {
    const fqdn = ofNode(scope);
    if (fqdn === null) return published;
    const owner = owners?.get(fqdn);
    return owner === undefined ? [] : ownedBy(published, owner);
  };
}
