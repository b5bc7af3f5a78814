/** What configurations and composites have in common, and in what their commands differ. */

import type { Api } from '../../client/api.ts';
import { ApiProblem } from '../../client/errors.ts';
import { isVersionName, leadingVHint } from '../../domain/version-order.ts';
import { Failure, UsageError } from '../errors.ts';

export interface Kind {
  /** The first word of its commands. */
  group: 'config' | 'composite';
  noun: 'configuration' | 'composite';
  base: '/api/v1/configurations' | '/api/v1/composite-configurations';
}

export const CONFIGURATION = {
  group: 'config',
  noun: 'configuration',
  base: '/api/v1/configurations',
} as const satisfies Kind;

export const COMPOSITE = {
  group: 'composite',
  noun: 'composite',
  base: '/api/v1/composite-configurations',
} as const satisfies Kind;

export const MESSAGE = {
  message: { value: 'MESSAGE', short: 'm', summary: 'why, for the history that git log shows' },
} as const;

/** The arguments of most commands. */
export function nameAndVersion({ noun }: Kind) {
  return [
    { name: 'name', summary: `the ${noun}` },
    { name: 'version', summary: 'the version, such as 1.2.0' },
  ] as const;
}

/** Leaves out a message that was not said. */
export function messageOf(message: string | undefined): { message?: string } {
  return message === undefined ? {} : { message };
}

/** A mistake that is made often: tags of Git have a v. @throws UsageError */
export function checkVersion(version: string): void {
  const hint = leadingVHint(version);
  if (hint !== '') throw new UsageError(`"${version}" is no version${hint}.`);
  if (!/^\d+\.\d+\.\d+/.test(version) && !isVersionName(version))
    throw new UsageError(`"${version}" is no version; one is written as 1.2.0, or 1.2.0-beta.1.`);
}

/** @returns null where the server says that there is no such thing, or that it may not be read */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/** The highest version that is published and not withdrawn, else the highest draft. @throws Failure */
export async function highestVersion(api: Api, name: string): Promise<string> {
  const found = await unlessMissing(api.get('/api/v1/configurations/{name}', { path: { name } }));
  if (found === null) throw new Failure(noSuch('configuration', name));
  const version = found.latestPublishedVersion ?? found.latestVersion;
  if (version === null) throw new Failure(`The configuration ${name} has no versions.`);
  return version;
}

export function noSuch(noun: string, name: string): string {
  return `not_found: There is no ${noun} "${name}" that you may read.`;
}
