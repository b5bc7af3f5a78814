/** Why a write of the holder of a repository's lock is refused. */

import { conflict } from '../lib/errors.ts';

export function published(code: 'already_published' | 'published_version'): Error {
  return conflict(code, 'The version is published.');
}

export function versionsMoved(): Error {
  return conflict('versions_changed', 'The version was changed by another program meanwhile; try again.');
}

export function withdrawalsBlocked(): Error {
  const message =
    'A tag "withdrawn" stands where the tags of withdrawals belong; delete or rename it with git.';
  return conflict('in_use', message);
}

export function draftMoved(): Error {
  return conflict('draft_changed', 'The draft was changed by another program meanwhile; try again.');
}
