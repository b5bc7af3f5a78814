/** Whose draft it is: what somebody else works on is replaced only by those who say so. */

import type { Api } from '../../client/api.ts';
import { Failure } from '../errors.ts';
import { dateTime } from '../formats.ts';

export const REPLACE = {
  replace: { summary: 'replace the draft also where somebody else made or edited it' },
} as const;

interface Draft {
  createdBy: string;
  createdAt: string;
  /** Whom its last commit names, which is who edited it last. Absent of parameter files, null where it names nobody. */
  author?: { name: string } | null;
}

/** @param what the draft, as the beginning of a sentence @throws Failure where it is not the caller's alone */
export async function requireOwn(api: Api, draft: Draft, what: string): Promise<void> {
  const { username } = await api.get('/api/v1/auth/me');
  const { createdBy, createdAt, author } = draft;
  const by = author?.name ?? createdBy;
  if (createdBy === username && by === username) return;
  const changed = by === createdBy ? '' : `, and ${by} changed it last`;
  throw new Failure(
    `${what} is not yours alone: ${createdBy} made it at ${dateTime(createdAt)}${changed}. ` +
      'It stays as it is. Say another --version, or --replace to replace it.',
  );
}
