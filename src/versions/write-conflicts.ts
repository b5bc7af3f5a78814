/** Why a write of the holder of a repository's lock is refused. */

import { conflict, notFound } from '../lib/errors.ts';
import type { SortedVersions } from './sorted-versions.ts';
import type { VersionIndex, VersionRef } from './types.ts';

/** @throws HawserError not_found, conflict `not_published` */
export function publishedNamed(index: VersionIndex, version: string): VersionRef {
  const ref = index.get(version);
  if (!ref) throw notFound('There is no such version.');
  if (ref.status !== 'Published') throw conflict('not_published', 'The version is a draft.');
  return ref;
}

/** @throws HawserError not_found, or a conflict with the given code */
export function draftNamed(
  index: VersionIndex,
  version: string,
  codeIfPublished: 'already_published' | 'published_version',
): VersionRef {
  const ref = index.get(version);
  if (!ref) throw notFound('There is no such version.');
  if (ref.status === 'Published') throw published(codeIfPublished);
  return ref;
}

/**
 * Refuses to remove a draft, and the highest stable version, without which `main` would have nowhere to go.
 * @param hasSeries whether the repository has series, which have no `main`
 * @throws HawserError not_found, conflict `in_use`
 */
export function requireRemovable(index: SortedVersions, version: string, hasSeries: boolean): void {
  const ref = index.get(version);
  if (ref === undefined) throw notFound('There is no such version.');
  if (hasSeries) return;
  if (ref.status === 'Draft') throw notFound('There is no such published version.');
  if (ref === index.highestStable) throw conflict('in_use', 'The branch main stands at this version.');
}

export function published(code: 'already_published' | 'published_version'): Error {
  return conflict(code, 'The version is published.');
}

export function versionsMoved(): Error {
  return conflict('versions_changed', 'The version was changed by another program meanwhile; try again.');
}

/** @param name of the ref that stands where a folder of refs belongs */
export function folderBlocked(name: string): Error {
  const message = `The ref ${name} stands where others of this name and a slash belong; delete or rename it with git.`;
  return conflict('in_use', message);
}

export function rolloutMoved(): Error {
  return conflict('state_changed', 'The rollout was changed meanwhile; look at it again.');
}

export function draftMoved(): Error {
  return conflict('draft_changed', 'The draft was changed by another program meanwhile; try again.');
}
