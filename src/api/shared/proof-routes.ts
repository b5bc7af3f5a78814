/** `.../versions/{version}/proof` of configurations and composites: who runs exactly this version, and why others do not. */

import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { toOptionalTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { ProofNode } from '../../resolve/proof-table.ts';
import type { ProofSlice } from '../../resolve/proof-tasks.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableComposites } from '../../security/rights.ts';
import { GRANT_KINDS, notFoundIfDeleted, type ResourceKind } from '../../versions/rows.ts';
import { DIRECT, ProofNodeFilter, ProofNodeView, ProofView, toTag } from './proof-schemas.ts';
import { permitted } from './routes.ts';

/** The path of a version, and the operation ids. */
const SPECS = {
  configurations: {
    path: '/api/v1/configurations/{name}/versions/{version}',
    ids: { proof: 'getConfigurationProof', nodes: 'listConfigurationProofNodes' },
  },
  composites: {
    path: '/api/v1/composite-configurations/{name}/versions/{version}',
    ids: { proof: 'getCompositeProof', nodes: 'listCompositeProofNodes' },
  },
};

/** Rows of a list that is sent whole, for each question. */
const SLICE = 250;

const ABOUT =
  'The caller also needs Read on it. A declaration is the word of whoever holds the key of the node, and no ' +
  'attestation of the machine.';

export interface ProofTools extends FleetTools {
  /** Waits until what the polls of nodes have told is written. */
  caughtUp(): Promise<void>;
}

export function proofRoutes(tools: ProofTools, kind: ResourceKind): Route[] {
  const { path, ids } = SPECS[kind];
  const reading = permitted(tools.database, ['Proof'], 'nodes.read');
  const { questions } = tools;
  return [
    reading.get(`${path}/proof`, {
      id: ids.proof,
      summary: 'How many nodes run exactly this version, and why the others do not',
      description: `${ABOUT} Nodes that get an error or nothing are Unresolvable, at every version.`,
      answer: { description: 'The proof', schema: ProofView },
      problems: READING_REPOSITORIES,
      async handle({ principal, params }) {
        const { tag, question } = await findPublished(tools, kind, principal, params);
        const { assigned, version } = question;
        const proof = await questions.run(principal.userId, 'proof', question);
        return { configurationName: assigned.name, version, tag, ...proof };
      },
    }),
    reading.list(`${path}/proof/nodes`, {
      id: ids.nodes,
      summary: 'The nodes that are offered this version, by fqdn, and what is known of each',
      description: `${ABOUT} Nodes that get an error or nothing stand among them.`,
      query: ProofNodeFilter,
      answer: { description: 'The nodes', schema: ProofNodeView },
      problems: READING_REPOSITORIES,
      async rows({ principal, params, query: { take, skip, ...filter } }) {
        const { question } = await findPublished(tools, kind, principal, params);
        const wish = { ...question, filter, part: { take, skip } };
        const { rows, total } = await questions.run(principal.userId, 'proofPage', wish);
        return { rows: rows.map(await showing(tools, principal)), total };
      },
      async whole({ principal, params, query: { evidence, reason, outcome } }) {
        const { question } = await findPublished(tools, kind, principal, params);
        const wish = { ...question, filter: { evidence, reason, outcome } };
        const slices = await slicesOf((part) =>
          questions.run(principal.userId, 'proofSlice', { ...wish, part }),
        );
        return shownBy(slices, await showing(tools, principal));
      },
      show: (node) => node,
    }),
  ];
}

/** How a node is shown to the caller, to whom a composite that it may not read has no name. */
async function showing({ database }: FleetTools, principal: UserPrincipal) {
  const readable = await readableComposites(database.read, principal);
  return ({ nodeId, fqdn, via, since, reason, outcome, ...node }: ProofNode) => ({
    ...{ nodeId, fqdn },
    via: via === null ? DIRECT : readable.has(via) ? via : null,
    ...node,
    ...{ since: toOptionalTimestamp(since), reason, outcome },
  });
}

async function* shownBy<R, T>(
  slices: AsyncGenerator<readonly R[]>,
  show: (row: R) => T,
): AsyncGenerator<T[]> {
  for await (const rows of slices) yield rows.map(show);
}

type Slices = (part: { after: string | null; table: number | null; take: number }) => Promise<ProofSlice>;

/** All nodes as they were at the first slice, which is there before anything is sent. */
async function slicesOf(read: Slices): Promise<AsyncGenerator<readonly ProofNode[]>> {
  return from(read, await read({ after: null, table: null, take: SLICE }));
}

async function* from(read: Slices, first: ProofSlice): AsyncGenerator<readonly ProofNode[]> {
  for (let { rows, table } = first; ; ) {
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < SLICE) return;
    ({ rows, table } = await read({ after: last.fqdn, table, take: SLICE }));
  }
}

/** @throws HawserError not_found where the caller may not read it, without such a version, and for a draft */
async function findPublished(
  { database, store, caughtUp }: ProofTools,
  kind: ResourceKind,
  principal: UserPrincipal,
  { name = '', version = '' }: Record<string, string>,
) {
  const resource = await grantedResource(database.read, principal, GRANT_KINDS[kind], 'Read', { name });
  const repository = { kind, name: resource.name };
  await caughtUp();
  return notFoundIfDeleted(database, kind, resource.id, async () => {
    const ref = (await store.versions(repository)).get(version);
    if (ref?.status !== 'Published') throw notFound('No such published version');
    const tag = toTag(ref, await store.details(repository, ref));
    return { question: { assigned: { kind, id: resource.id, name: resource.name }, version }, tag };
  });
}
