/** Tells which parameters of what a node gets are secure. */

import { majorOf } from '../domain/version-order.ts';
import type { ScopeFile } from './parameters.ts';
import type { ConfigurationPlan } from './plans.ts';
import type { Declared, SchemaReader } from './schemas.ts';
import type { SecretNames } from './secrets.ts';

/** What the version of the plan declares about its parameters. @throws HawserError `repository_damaged` */
export async function declaredBy(
  schemas: SchemaReader,
  { name, tag }: ConfigurationPlan,
  caller: string,
): Promise<Declared> {
  const version = await schemas.find(name, tag.version);
  return version ? schemas.read(name, version, caller) : { schema: null, fault: null, secure: [] };
}

/**
 * The names that the delivered version declares secure. If a file of a lower major is used, the names that its own schema
 * declares secure are added, because they are still secret. All names, if it is unknown which ones are secure.
 */
export async function secretNamesOf(
  schemas: SchemaReader,
  configurationName: string,
  { fault, secure }: Declared,
  scopes: readonly Pick<ScopeFile, 'file' | 'isFallback'>[],
  caller: string,
): Promise<SecretNames> {
  if (fault) return 'all';
  const names = new Set(secure);
  for (const major of fallbackMajors(scopes)) {
    const older = await schemas.forMajor(configurationName, major, caller);
    for (const each of older.secure) names.add(each);
  }
  return names;
}

/** The lower majors of which files are used. */
export function fallbackMajors(scopes: readonly Pick<ScopeFile, 'file' | 'isFallback'>[]): Set<number> {
  const majors = new Set<number>();
  for (const { file, isFallback } of scopes) {
    const major = file && isFallback ? majorOf(file.version) : null;
    if (major !== null) majors.add(major);
  }
  return majors;
}
