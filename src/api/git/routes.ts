/** `/git`: the reading part of Git's smart HTTP protocol, for stock clients. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import type { GrantKind } from '../../domain/permissions.ts';
import { missingRepository } from '../../git/disk-errors.ts';
import type { FetchCall, UploadPack } from '../../git/upload-pack.ts';
import { streamed } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type RequestFacts, type Route, route } from '../../http/route.ts';
import { forbidden, invalid, notFound } from '../../lib/errors.ts';
import type { GitStore, RepositoryKind, RepositoryRef } from '../../versions/store.ts';

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

const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement';
const REQUEST = 'application/x-git-upload-pack-request';
const RESULT = 'application/x-git-upload-pack-result';
const headers = { 'Cache-Control': '`no-cache, max-age=0, must-revalidate`' };

/** A git client lists what it has and wants: 50 bytes an object, and it stops long before so many bytes. */
const REQUEST_BYTES = 10 * 1024 * 1024;

const PUSH_REFUSED = 'Hawser does not take pushes: versions are made and published through its API';
const DUMB_REFUSED = "Only Git's smart protocol is spoken here: ask for ?service=git-upload-pack";

const FETCH_PROBLEMS = ['rate_limited', 'git_not_available', 'git_timeout', ...READING_REPOSITORIES];

export function gitRoutes(store: GitStore, uploadPack: UploadPack): Route[] {
  return SERVED.flatMap((served) => [...fetchRoutes(served, store, uploadPack), pushRoute(served)]);
}

function fetchRoutes(served: Served, store: GitStore, uploadPack: UploadPack): Route[] {
  return [
    route({
      ...common(served),
      id: `list${served.noun}Refs`,
      method: 'GET',
      path: served.refs,
      summary: `List the refs of a ${served.label} for a git client`,
      query: z.object({ service: z.string().optional() }),
      answers: {
        200: { description: "The refs, or the server's capabilities", mediaType: ADVERTISEMENT, headers },
      },
      problems: [...FETCH_PROBLEMS, 'push_not_supported', 'smart_protocol_only', 'unknown_service'],
      async handle({ resource, query, facts }) {
        refuseOtherServices(query.service);
        const call = await callOf(served, resource.name, facts, store);
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
      answers: { 200: { description: 'What the client asked for', mediaType: RESULT, headers } },
      problems: FETCH_PROBLEMS,
      async handle({ resource, body, facts }) {
        const call = await callOf(served, resource.name, facts, store);
        return streamed(await uploadPack.serve(call, body), RESULT);
      },
    }),
  ];
}

function pushRoute(served: Served): Route {
  return route({
    ...common(served),
    id: `push${served.noun}Objects`,
    method: 'POST',
    path: served.push,
    summary: `Refuse a push to a ${served.label}`,
    answers: {},
    problems: ['push_not_supported'],
    handle() {
      throw forbidden(PUSH_REFUSED, 'push_not_supported');
    },
  });
}

function common({ on }: Served) {
  return { tags: ['Git'], caller: 'git', access: { kind: 'grant', on, level: 'Read' } } as const;
}

function refuseOtherServices(service: string | undefined): void {
  if (service === 'git-upload-pack') return;
  if (service === 'git-receive-pack') throw forbidden(PUSH_REFUSED, 'push_not_supported');
  if (service === undefined) throw forbidden(DUMB_REFUSED, 'smart_protocol_only');
  throw invalid('unknown_service', 'There is no such service');
}

async function callOf(
  { kind, label }: Served,
  name: string,
  facts: RequestFacts,
  store: GitStore,
): Promise<FetchCall> {
  const repository: RepositoryRef = { kind, name };
  if (!(await store.has(repository))) {
    // A parameter repository is created with the first parameters, the others together with their row.
    throw kind === 'parameters' ? notFound(`There are no ${label} yet`) : missingRepository();
  }
  return { repository, protocol: facts.header('git-protocol'), gone: facts.over };
}
