/** Rules for parameter files that the pages share: which version counts, and which number comes next. */

import type { Resource } from '../../resource.ts';
import type { Configuration, ParameterContent, ParameterFile, Version } from '../../types.ts';

/** The most entries that the API puts into one answer. */
export const MOST = 1_000;

/** A scope type with one of its values; Default has none. */
export interface Scope {
  scopeTypeName: string;
  scopeValue: string | null;
}

/** For example `Default` or `Environment/production`. */
export function scopeLabel({ scopeTypeName, scopeValue }: Scope): string {
  return scopeValue === null ? scopeTypeName : `${scopeTypeName}/${scopeValue}`;
}

/** The name of the document in a bundle and in the repository. */
export function pathOf(contentType: string | null): string {
  return contentType === 'application/json' ? 'parameters.json' : 'parameters.yaml';
}

/** The digits of the major, which may be more than a number holds exactly; null for a version that is no SemVer. */
export function majorOf(version: string): string | null {
  return /^(0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:[-+].*)?$/.exec(version)?.[1] ?? null;
}

/** Below 0 if `a` is lower. */
export function compareMajors(a: string, b: string): number {
  return a.length - b.length || (a === b ? 0 : a < b ? -1 : 1);
}

/** A stable version is no prerelease such as 1.0.0-rc.1. */
export function isStable(version: string): boolean {
  return !(version.split('+', 1)[0] ?? '').includes('-');
}

/** Whether nodes may get the file: it is published, and not withdrawn. */
export function isOffered({ status, withdrawn }: Pick<ParameterFile, 'status' | 'withdrawn'>): boolean {
  return status === 'Published' && withdrawn === null;
}

/** The file that counts for a major: the highest stable one that is offered, else the highest that is offered. */
export function activeOf(highestFirst: readonly ParameterFile[]): ParameterFile | undefined {
  const published = highestFirst.filter(isOffered);
  return published.find(({ version }) => isStable(version)) ?? published[0];
}

/** The next version of a scope's file in a major: the one after the highest that is there. */
export function nextVersion(highestFirst: readonly { version: string }[], major: string): string {
  const highest = highestFirst.find(({ version }) => majorOf(version) === major)?.version;
  if (highest === undefined) return `${major}.0.0`;
  const [numbers = ''] = highest.split(/[-+]/, 1);
  const [, minor = '0', patch = '0'] = numbers.split('.');
  return `${major}.${minor}.${isStable(highest) ? BigInt(patch) + 1n : patch}`;
}

/**
 * The version of the configuration whose schema is meant for files of a major: the highest published one of that major,
 * else the highest of it, else the same of the nearest lower major. For a draft, which may set what only a draft declares,
 * published ones do not go first. Undefined: the server chooses.
 */
export function schemaVersion(
  highestFirst: readonly Version[],
  major: string | null,
  isDraft: boolean,
): string | undefined {
  const offered = highestFirst.filter(({ withdrawn }) => withdrawn === null);
  const majors = offered.map(({ version }) => majorOf(version)).filter((each) => each !== null);
  const meant = majors.find((each) => major === null || compareMajors(each, major) <= 0);
  if (meant === undefined) return undefined;
  const ofMajor = offered.filter(({ version }) => majorOf(version) === meant);
  const published = ofMajor.find(({ status }) => !isDraft && status === 'Published');
  return (published ?? ofMajor[0])?.version;
}

/** The majors of the configuration and of its files, the highest first. */
export function majorsOf(versions: readonly Version[], files: readonly ParameterFile[]): string[] {
  const known = [...versions, ...files].map(({ version }) => majorOf(version));
  return [...new Set(known.filter((major) => major !== null))].sort((a, b) => compareMajors(b, a));
}

interface Held {
  configuration: Resource<Configuration>;
  /** A file of the scope that is meant; left out where none is. */
  file?: Resource<ParameterContent>;
}

/** The level on the files of the scope; while no file of it is there, that on any part of the parameters. */
export function levelOf({ configuration, file }: Held): Configuration['parametersAccess'] {
  return file?.data?.access ?? configuration.data?.parametersAccess ?? null;
}

/** Whether to offer deeds. Where the level is unknown, because nothing of it can be read, the server decides. */
export function mayChange(held: Held): boolean {
  return isUnknown(held) || ['Modify', 'Manage'].includes(levelOf(held) ?? '');
}

/** Whether drafts may be deleted, and published files withdrawn, as `mayChange`. */
export function mayManage(held: Held): boolean {
  return isUnknown(held) || levelOf(held) === 'Manage';
}

const isUnknown = ({ configuration: { data, state }, file }: Held) =>
  data === null && state === 'error' && (file?.data ?? null) === null;
