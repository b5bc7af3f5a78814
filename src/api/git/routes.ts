/** `/git`: the read side of Git's smart HTTP protocol, for stock clients. */

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

/** A kind of repository, and what a grant must be held on to fetch from it. */
interface Served {
  kind: RepositoryKind;
  on: GrantKind;
  label: string;
  /** As it stands in operation ids. */
  noun: string;
}

const SERVED: readonly Served[] = [
  { kind: 'configurations', on: 'configuration', label: 'configuration', noun: 'Configuration' },
  { kind: 'composites', on: 'composite', label: 'composite configuration', noun: 'Composite' },
  { kind: 'parameters', on: 'parameters', label: "configuration's parameters", noun: 'Parameter' },
];

const ADVERTISEMENT = 'application/x-git-upload-pack-advertisement';
const NEVER_STORED = { 'Cache-Control': '`no-cache, max-age=0, must-revalidate`' };
const REQUEST = 'application/x-git-upload-pack-request';
const RESULT = 'application/x-git-upload-pack-result';

/** Git lists what it has and wants: 50 bytes an object, and it stops long before this many. */
const REQUEST_BYTES = 10 * 1024 * 1024;

const PUSH_REFUSED = 'Hawser does not take pushes: versions are made and published through its API';
const DUMB_REFUSED = "Only Git's smart protocol is spoken here: ask for ?service=git-upload-pack";

export function gitRoutes(store: GitStore, uploadPack: UploadPack): Route[] {
  return SERVED.flatMap((served) => [
    refsRoute(served, store, uploadPack),
    fetchRoute(served, store, uploadPack),
    pushRoute(served),
  ]);
}

function refsRoute(served: Served, store: GitStore, uploadPack: UploadPack): Route {
  return route({
    ...common(served),
    id: `list${served.noun}Refs`,
    method: 'GET',
    path: `/git/${served.kind}/{name}.git/info/refs`,
    summary: `List the refs of a ${served.label} for a git client`,
    query: z.object({ service: z.string().optional() }),
    answers: {
      200: {
        description: "The refs, or the server's capabilities",
        mediaType: ADVERTISEMENT,
        headers: NEVER_STORED,
      },
    },
    problems: [...FETCH_PROBLEMS, 'push_not_supported', 'smart_protocol_only', 'unknown_service'],
    async handle({ resource, query, facts }) {
      refuseOtherServices(query.service);
      const call = await callOf(served, resource.name, facts, store);
      return streamed(await uploadPack.advertise(call), ADVERTISEMENT);
    },
  });
}

function fetchRoute(served: Served, store: GitStore, uploadPack: UploadPack): Route {
  return route({
    ...common(served),
    id: `fetch${served.noun}Objects`,
    method: 'POST',
    path: `/git/${served.kind}/{name}.git/git-upload-pack`,
    summary: `Send objects of a ${served.label} to a git client`,
    body: { kind: 'stream', schema: z.instanceof(Readable), mediaType: REQUEST, bytes: REQUEST_BYTES },
    answers: { 200: { description: 'What the client asked for', mediaType: RESULT, headers: NEVER_STORED } },
    problems: FETCH_PROBLEMS,
    async handle({ resource, body, facts }) {
      const call = await callOf(served, resource.name, facts, store);
      return streamed(await uploadPack.serve(call, body), RESULT);
    },
  });
}

function pushRoute(served: Served): Route {
  return route({
    ...common(served),
    id: `push${served.noun}Objects`,
    method: 'POST',
    path: `/git/${served.kind}/{name}.git/git-receive-pack`,
    summary: `Refuse a push to a ${served.label}`,
    answers: {},
    problems: ['push_not_supported'],
    handle() {
      throw forbidden(PUSH_REFUSED, 'push_not_supported');
    },
  });
}

const FETCH_PROBLEMS = ['rate_limited', 'git_not_available', 'git_timeout', ...READING_REPOSITORIES];

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
    // Made with the first parameters; the others are made together with their row.
    throw kind === 'parameters' ? notFound(`There are no ${label} yet`) : missingRepository();
  }
  return { repository, protocol: facts.header('git-protocol'), gone: facts.over };
}
