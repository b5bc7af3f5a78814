/** Tells which parameters of what a node gets are secure. */

import type { SecretNames } from '../domain/secrets.ts';
import { type Major, majorOf } from '../domain/version-order.ts';
import type { VersionRef } from '../versions/types.ts';
import { type Declared, UNKNOWN_SCHEMA } from './declared.ts';
import type { ScopeFile } from './parameters.ts';
import type { SchemaReader } from './schemas.ts';

/** What the version of the plan declares about its parameters; unknown if it has just gone. @throws HawserError `repository_damaged` */
export async function declaredBy(
  schemas: SchemaReader,
  { name, tag }: { name: string; tag: VersionRef },
  caller: string,
): Promise<Declared> {
  const version = await schemas.find(name, tag.version);
  return version ? schemas.read(name, version, caller) : UNKNOWN_SCHEMA;
}

/**
 * The names that the delivered version declares secure. If a file of a lower major is used, the names that its own schema
 * declares secure are added, because they are still secret. All names, if it is unknown which ones are secure.
 */
export async function secretNamesOf(
  schemas: SchemaReader,
  configurationName: string,
  declared: Declared,
  scopes: readonly Pick<ScopeFile, 'file' | 'isFallback'>[],
  caller: string,
): Promise<SecretNames> {
  const all = [declared];
  for (const major of fallbackMajors(scopes))
    all.push(await schemas.forMajor(configurationName, major, caller));
  return secretsIn(all);
}

/** The names that are declared secure by any of these, or all names. */
export function secretsIn(all: readonly Declared[]): SecretNames {
  const names = new Set<string>();
  for (const each of all) {
    if (each.kind === 'unknown') return 'all';
    if (each.kind === 'defined') for (const name of each.secure) names.add(name);
  }
  return names;
}

/** The lower majors of which files are used. */
export function fallbackMajors(scopes: readonly Pick<ScopeFile, 'file' | 'isFallback'>[]): Set<Major> {
  const majors = new Set<Major>();
  for (const { file, isFallback } of scopes) {
    const major = file && isFallback ? majorOf(file.version) : null;
    if (major !== null) majors.add(major);
  }
  return majors;
}
