/** `/git`: Git's smart HTTP protocol, for stock clients. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { listScopeTypes } from '../../db/scope-types.ts';
import { requireAllScopes } from '../../deeds/pushed-files.ts';
import type { GrantKind } from '../../domain/permissions.ts';
import { missingRepository } from '../../git/disk-errors.ts';
import { PUSH_ADVERTISEMENT_TYPE } from '../../git/push/advertisement.ts';
import type { FetchCall, UploadPack } from '../../git/upload-pack.ts';
import { STREAMED, streamed } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { PushedKind } from '../../versions/push-plan.ts';
import { branchToCheckOut } from '../../versions/scope-type-branch.ts';
import type { GitStore, RepositoryKind, RepositoryRef } from '../../versions/store.ts';
import { changeHistoryRoutes } from './change-history-routes.ts';
import {
  ADVERTISEMENT,
  FETCH_PROBLEMS,
  REQUEST,
  REQUEST_BYTES,
  RESULT,
  refuseOtherServices,
} from './fetching.ts';
import { pushRoutes } from './push-routes.ts';
import { type PushCall, type Pushes, pushNotSupported } from './pushes.ts';

/** A kind of repository, and on what a grant must be held to fetch from it. */
interface Served {
  kind: RepositoryKind;
  on: GrantKind;
  label: string;
  /** The noun in operation ids. */
  noun: string;
  refs: string;
  fetch: string;
  push: string;
}

const SERVED: readonly Served[] = [
  {
    ...{ kind: 'configurations', on: 'configuration', label: 'configuration', noun: 'Configuration' },
    refs: '/git/configurations/{name}.git/info/refs',
    fetch: '/git/configurations/{name}.git/git-upload-pack',
    push: '/git/configurations/{name}.git/git-receive-pack',
  },
  {
    ...{ kind: 'composites', on: 'composite', label: 'composite configuration', noun: 'Composite' },
    refs: '/git/composites/{name}.git/info/refs',
    fetch: '/git/composites/{name}.git/git-upload-pack',
    push: '/git/composites/{name}.git/git-receive-pack',
  },
  {
    ...{ kind: 'parameters', on: 'parameters', label: "configuration's parameters", noun: 'Parameter' },
    refs: '/git/parameters/{name}.git/info/refs',
    fetch: '/git/parameters/{name}.git/git-upload-pack',
    push: '/git/parameters/{name}.git/git-receive-pack',
  },
];

export interface GitTools {
  database: Database;
  store: GitStore;
  uploadPack: UploadPack;
  pushes: Pushes;
}

export function gitRoutes(tools: GitTools): Route[] {
  const { pushes } = tools;
  const fetches = SERVED.flatMap((served) => fetchRoutes(served, tools));
  return [
    ...fetches,
    ...changeHistoryRoutes(tools),
    ...SERVED.flatMap((served) =>
      isPushed(served.kind) ? pushRoutes(pushes, { ...served, kind: served.kind }) : refusedPush(served),
    ),
  ];
}

function fetchRoutes(served: Served, tools: GitTools): Route[] {
  const { uploadPack, pushes } = tools;
  return [
    route({
      ...common(served),
      id: `list${served.noun}Refs`,
      method: 'GET',
      path: served.refs,
      summary: `List the refs of a ${served.label} for a git client`,
      query: z.object({ service: z.string().optional() }),
      answers: {
        200: {
          description: "The refs, or the server's capabilities",
          mediaType: ADVERTISEMENT,
          ...(isPushed(served.kind) && { alternatives: [PUSH_ADVERTISEMENT_TYPE] }),
          headers: STREAMED,
        },
      },
      problems: [...FETCH_PROBLEMS, 'push_not_supported', 'smart_protocol_only', 'unknown_service'],
      async handle({ resource, principal, query, facts }) {
        const { kind } = served;
        if (query.service === 'git-receive-pack' && isPushed(kind)) {
          const refs = await pushes.advertise({ kind, resource, principal });
          return streamed(Readable.from(refs), PUSH_ADVERTISEMENT_TYPE);
        }
        refuseOtherServices(query.service);
        const call = await callOf(served, { resource, principal, facts }, tools);
        return streamed(await uploadPack.advertise(call), ADVERTISEMENT);
      },
    }),
    route({
      ...common(served),
      id: `fetch${served.noun}Objects`,
      method: 'POST',
      path: served.fetch,
      summary: `Send objects of a ${served.label} to a git client`,
      body: { kind: 'stream', schema: z.instanceof(Readable), mediaType: REQUEST, bytes: REQUEST_BYTES },
      answers: { 200: { description: 'What the client asked for', mediaType: RESULT, headers: STREAMED } },
      problems: FETCH_PROBLEMS,
      async handle({ resource, principal, body, facts }) {
        const call = await callOf(served, { resource, principal, facts }, tools);
        return streamed(await uploadPack.serve(call, body), RESULT);
      },
    }),
  ];
}

const isPushed = (kind: RepositoryKind): kind is PushedKind => kind !== 'composites';

function refusedPush(served: Served): Route {
  return route({
    ...common(served),
    id: `push${served.noun}Objects`,
    method: 'POST',
    path: served.push,
    summary: `Refuse a push to a ${served.label}`,
    answers: {},
    problems: ['push_not_supported'],
    handle() {
      throw pushNotSupported();
    },
  });
}

function common({ on }: Served) {
  return {
    tags: ['Git'],
    bound: 'git',
    caller: 'git',
    access: { kind: 'grant', on, level: 'Read', ...(on === 'parameters' && ({ part: 'any' } as const)) },
  } as const;
}

const NO_PARAMETERS =
  'The configuration has no parameters yet; push a draft of the first file, such as draft/Default/1.0.0';

async function callOf(
  { kind }: Served,
  { resource, principal, facts }: Omit<PushCall, 'kind'>,
  tools: Pick<GitTools, 'database' | 'store'>,
): Promise<FetchCall> {
  const { store } = tools;
  const repository: RepositoryRef = { kind, name: resource.name };
  if (!(await store.has(repository))) {
    // A parameter repository is created with the first parameters, the others together with their row.
    throw kind === 'parameters' ? notFound(NO_PARAMETERS) : missingRepository();
  }
  if (kind === 'parameters') {
    const index = await store.parameters.index(resource.name);
    await requireAllScopes(tools.database, principal, resource, index);
    const types = (await listScopeTypes(tools.database.read)).map(({ name }) => name);
    const branch = branchToCheckOut(index, types);
    // Who clones gets all of it, whichever branch is checked out.
    await store.pointHead(repository, branch).catch(() => undefined);
  }
  const caller = principal.userId;
  return { repository, caller, protocol: facts.header('git-protocol'), gone: facts.over };
}
