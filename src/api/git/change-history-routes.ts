/** `/git/changes.git`: the story of all change sets, which is fetched and never pushed. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import { CHANGES } from '../../git/types.ts';
import type { FetchCall, UploadPack } from '../../git/upload-pack.ts';
import { STREAMED, streamed } from '../../http/answer.ts';
import { type RequestFacts, type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { GitStore } from '../../versions/store.ts';
import {
  ADVERTISEMENT,
  FETCH_PROBLEMS,
  REQUEST,
  REQUEST_BYTES,
  RESULT,
  refuseOtherServices,
} from './fetching.ts';
import { pushNotSupported } from './pushes.ts';

interface Tools {
  store: GitStore;
  uploadPack: UploadPack;
}

/** It tells of all that was ever proposed, as the audit trail does. */
const COMMON = {
  tags: ['Git'],
  bound: 'git',
  caller: 'git',
  access: { kind: 'permission', permission: 'audit.read' },
} as const;

export function changeHistoryRoutes(tools: Tools): Route[] {
  const { uploadPack } = tools;
  return [
    route({
      ...COMMON,
      id: 'listChangeSetRefs',
      method: 'GET',
      path: '/git/changes.git/info/refs',
      summary: 'List the refs of the story of the change sets for a git client',
      query: z.object({ service: z.string().optional() }),
      answers: {
        200: {
          description: "The refs, or the server's capabilities",
          ...{ mediaType: ADVERTISEMENT, headers: STREAMED },
        },
      },
      problems: [...FETCH_PROBLEMS, 'push_not_supported', 'smart_protocol_only', 'unknown_service'],
      async handle({ query, ...call }) {
        refuseOtherServices(query.service);
        return streamed(await uploadPack.advertise(await callOf(tools, call)), ADVERTISEMENT);
      },
    }),
    route({
      ...COMMON,
      id: 'fetchChangeSetObjects',
      method: 'POST',
      path: '/git/changes.git/git-upload-pack',
      summary: 'Send objects of the story of the change sets to a git client',
      body: { kind: 'stream', schema: z.instanceof(Readable), mediaType: REQUEST, bytes: REQUEST_BYTES },
      answers: { 200: { description: 'What the client asked for', mediaType: RESULT, headers: STREAMED } },
      problems: FETCH_PROBLEMS,
      async handle({ body, ...call }) {
        return streamed(await uploadPack.serve(await callOf(tools, call), body), RESULT);
      },
    }),
    route({
      ...COMMON,
      id: 'pushChangeSetObjects',
      method: 'POST',
      path: '/git/changes.git/git-receive-pack',
      summary: 'Refuse a push to the story of the change sets',
      answers: {},
      problems: ['push_not_supported'],
      handle() {
        throw pushNotSupported();
      },
    }),
  ];
}

/** @throws HawserError not_found before the first set */
async function callOf(
  { store }: Tools,
  { principal, facts }: { principal: UserPrincipal; facts: RequestFacts },
): Promise<FetchCall> {
  if (!(await store.changes.has())) throw notFound('There are no change sets yet');
  const caller = principal.userId;
  return { repository: CHANGES, caller, protocol: facts.header('git-protocol'), gone: facts.over };
}
