/** How the child of a composite is written: `web`, `web@1.2.0` for exactly that version, `web@1.x` for the highest of major 1. */

import type { Schemas } from '../../client/api-types.ts';
import { isResourceName } from '../../domain/names.ts';
import { UsageError } from '../errors.ts';
import { checkVersion } from './config-kinds.ts';

/** Both are null where the child follows its highest published version. */
export type GivenVersion = Pick<Schemas['CompositeItem'], 'activeVersion' | 'majorVersion'>;

export interface Child {
  name: string;
  given: GivenVersion;
}

/** @throws UsageError */
export function readChildren(words: readonly string[]): Child[] {
  const children = words.map(readChild);
  for (const [at, { name }] of children.entries())
    if (children.findIndex((each) => each.name === name) !== at)
      throw new UsageError(`The child ${name} is named twice.`);
  return children;
}

function readChild(word: string): Child {
  const [name = '', version, ...more] = word.split('@');
  if (!isResourceName(name) || version === '' || more.length > 0)
    throw new UsageError(`"${word}" is no child; one is written as web, web@1.2.0 or web@1.x.`);
  const [, major] = /^(\d+)\.x$/.exec(version ?? '') ?? [];
  if (major !== undefined) return { name, given: { activeVersion: null, majorVersion: Number(major) } };
  if (version !== undefined) checkVersion(version);
  return { name, given: { activeVersion: version ?? null, majorVersion: null } };
}

/** A child as it is written. */
export function childText(
  name: string,
  {
    activeVersion,
    majorVersion,
  }: Pick<GivenVersion, 'activeVersion'> & { majorVersion?: number | null | undefined },
): string {
  if (activeVersion !== null) return `${name}@${activeVersion}`;
  return typeof majorVersion === 'number' ? `${name}@${majorVersion}.x` : name;
}

export function isSameVersion(a: GivenVersion, b: GivenVersion): boolean {
  return a.activeVersion === b.activeVersion && a.majorVersion === b.majorVersion;
}
