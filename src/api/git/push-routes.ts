/** `/git/configurations/{name}.git`: what stock git clients, and git-lfs, ask for when they push. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import { MAX_HEAD_BYTES, PUSH_REQUEST_TYPE } from '../../git/push/push-request.ts';
import { PUSH_RESULT_TYPE } from '../../git/push/report.ts';
import { STREAMED, streamed } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import type { PushedKind } from '../../versions/push-plan.ts';
import type { Pushes } from './pushes.ts';

const LFS_TYPE = 'application/vnd.git-lfs+json';
const LFS_CODE = 'lfs_not_supported';
const NO_LFS = 'This server takes no files of Git LFS: push their content';

/** A kind of repository that takes pushes. */
export interface Pushed {
  kind: PushedKind;
  /** The noun in operation ids. */
  noun: string;
}

/** Which files of parameters a push is about is known once it has come. */
const ACCESS = {
  configurations: { kind: 'grant', on: 'configuration', level: 'Modify' },
  parameters: { kind: 'grant', on: 'parameters', level: 'Read', part: 'any' },
} as const;

function common(kind: PushedKind) {
  return { method: 'POST', tags: ['Git'], bound: 'git', caller: 'git', access: ACCESS[kind] } as const;
}

export function pushRoutes(pushes: Pushes, { kind, noun }: Pushed): Route[] {
  const repository = `/git/${kind}/{name}.git` as const;
  return [
    route({
      ...common(kind),
      id: `push${noun}Objects`,
      path: `${repository}/git-receive-pack`,
      summary: `Take ${kind === 'parameters' ? 'parameter files' : 'a draft or a version'} that a git client pushes`,
      description:
        'The request is that of `git push`. What becomes of each ref stands in the answer, also where it is refused.',
      body: {
        kind: 'stream',
        schema: z.instanceof(Readable),
        mediaType: PUSH_REQUEST_TYPE,
        // The lengths of the lines need room beside what the lines hold.
        bytes: pushes.packBytes + 2 * MAX_HEAD_BYTES,
      },
      answers: {
        200: { description: 'What became of each ref', mediaType: PUSH_RESULT_TYPE, headers: STREAMED },
      },
      problems: [
        'push_not_supported',
        'git_not_available',
        ...(kind === 'parameters' ? ['partial_read'] : []),
        'malformed_body',
        'too_slow',
        ...READING_REPOSITORIES,
      ],
      async handle({ resource, principal, body, facts }) {
        const report = await pushes.receive({ kind, resource, principal, facts }, body);
        return streamed(Readable.from(report), PUSH_RESULT_TYPE);
      },
    }),
    lfsRoute(kind, `negotiate${noun}Lfs`, 'objects/batch', 'Refuse the transfer of files of Git LFS'),
    lfsRoute(kind, `verify${noun}LfsLocks`, 'locks/verify', 'Refuse the locks of Git LFS'),
  ];
}

/** git-lfs asks before a push. It shows its user the message, and ends the push. */
function lfsRoute(kind: PushedKind, id: string, path: string, summary: string): Route {
  return route({
    ...common(kind),
    id,
    path: `/git/${kind}/{name}.git/info/lfs/${path}`,
    summary,
    body: { kind: 'document', schema: z.unknown(), mediaTypes: [LFS_TYPE, 'application/json'] },
    answers: {
      501: { description: 'This server has no LFS: JSON with `message` and `code`', mediaType: LFS_TYPE },
    },
    handle() {
      const body = JSON.stringify({ message: NO_LFS, code: LFS_CODE });
      return { status: 501, headers: { 'Content-Type': LFS_TYPE, 'Cache-Control': 'no-store' }, body };
    },
  });
}
