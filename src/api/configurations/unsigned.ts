/** How much of a configuration is not signed by who may sign: what requiring it would mean. */

import { findSigning } from '../../db/signing.ts';
import { isRefusal } from '../../lib/errors.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { checkVersion } from '../../versions/signature-checks.ts';
import type { VersionRef } from '../../versions/store.ts';

export interface Unsigned {
  versions: number;
  nodes: number;
}

/** @returns null where it cannot be counted at the moment, which is in the log */
export async function countUnsigned(
  tools: FleetTools & UnsignedLog,
  { resource, principal, now }: { resource: GrantedResource; principal: UserPrincipal; now: number },
): Promise<Unsigned | null> {
  const { id, name } = resource;
  try {
    const versions = await unsignedVersions(tools, resource, now);
    if (versions.size === 0) return { versions: 0, nodes: 0 };
    const assigned = { kind: 'configurations', id, name } as const;
    const use = await tools.questions.run(principal.userId, 'versionUse', assigned);
    let nodes = 0;
    for (const [version, { offered }] of use) if (versions.has(version)) nodes += offered;
    return { versions: versions.size, nodes };
  } catch (error) {
    if (isRefusal(error)) throw error;
    tools.log.warn({ err: error, configuration: name }, 'the versions that are not signed cannot be counted');
    return null;
  }
}

interface UnsignedLog {
  log: { warn(what: object, message: string): void };
}

/** The published versions that are not Valid. @throws what reading versions throws */
async function unsignedVersions(
  { database, store }: Pick<FleetTools, 'database' | 'store'>,
  { id, name }: GrantedResource,
  now: number,
): Promise<ReadonlySet<string>> {
  const signing = await findSigning(database.read, id);
  // Where nobody may sign, versions have no verdict.
  if (signing.allowedSigners.trim() === '') return new Set();
  const repository = { kind: 'configurations', name } as const;
  const published = (await store.versions(repository)).versions.filter(
    ({ status }) => status === 'Published',
  );
  const loads = limitLoads();
  const isValid = async (ref: VersionRef) => {
    const details = await store.details(repository, ref);
    return (await checkVersion(store, { name, ref, details }, signing, now))?.status === 'Valid';
  };
  const valid = await Promise.all(published.map((ref) => loads(() => isValid(ref))));
  return new Set(published.filter((_, at) => !valid[at]).map(({ version }) => version));
}
