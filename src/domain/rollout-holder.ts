/** Whether a node has taken what rolls out, by the manifest that it runs. */

import { isOfScope, type RolledFile, type RolloutRecord, type ScopeIds } from './rollout.ts';
import { compareVersions, isVersion, majorOf } from './version-order.ts';

/** A configuration in a manifest. */
export interface HeldPart {
  version: string;
  parameters: readonly HeldFile[];
}

interface HeldFile {
  scopeTypeName: string;
  scopeValue: string | null;
  scopeTypeId?: string;
  scopeValueId?: string | null;
  version: string;
  tagObjectId: string;
}

/**
 * Whether the manifest holds the version and the files that the node would be offered. A higher version or file may have come in place
 * of one of them: whoever holds the others keeps these.
 * @param scopes those of the node
 */
export function hasTaken(
  held: HeldPart | undefined,
  { version, parameters }: Pick<RolloutRecord, 'version' | 'parameters'>,
  scopes: readonly ScopeIds[],
): boolean {
  if (held === undefined) return false;
  const own = parameters.filter((file) => scopes.some((scope) => isOfScope(file, scope)));
  const holdsFile = own.some(({ tag }) => held.parameters.some(({ tagObjectId }) => tagObjectId === tag));
  const holdsVersion = version !== null && held.version === version;
  if (!holdsFile && !holdsVersion) return false;
  const isVersionMet = version === null || holdsVersion || isAbove(held.version, version);
  return isVersionMet && own.every((file) => isMet(held, file));
}

function isMet(held: HeldPart, file: RolledFile): boolean {
  if (file.isPassthrough) return true;
  const given = held.parameters.find((each) => isSameScope(each, file));
  if (given && (given.tagObjectId === file.tag || isAbove(given.version, file.version))) return true;
  // Files of a higher major do not go with this version of the configuration.
  return (majorOf(file.version) ?? 0) > (majorOf(held.version) ?? Number.MAX_SAFE_INTEGER);
}

function isSameScope(held: HeldFile, { scopeType, scopeValue }: RolledFile): boolean {
  if (held.scopeTypeId !== undefined)
    return held.scopeTypeId === scopeType.id && (held.scopeValueId ?? null) === (scopeValue?.id ?? null);
  return held.scopeTypeName === scopeType.name && held.scopeValue === (scopeValue?.value ?? null);
}

function isAbove(version: string, other: string): boolean {
  return isVersion(version) && isVersion(other) && compareVersions(version, other) > 0;
}
