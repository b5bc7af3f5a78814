/** `.../versions/{version}/nodes` of configurations and composites: which nodes ran it at a time, by whatever way. */

import { z } from 'zod';
import type { PastQuestion, PastRow } from '../../db/read-past.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { RequestFacts, Route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableComposites } from '../../security/rights.ts';
import { GRANT_KINDS, notFoundIfDeleted, type ResourceKind } from '../../versions/rows.ts';
import { ABOUT_PAST, At, momentOf, PAST_EXAMPLE, PastNodeShape, toPastNode, wholePast } from './past.ts';
import type { ProofTools } from './proof-routes.ts';
import { DIRECT } from './proof-schemas.ts';
import { permitted } from './routes.ts';

const SPECS = {
  configurations: { segment: 'configurations', id: 'listConfigurationVersionNodes' },
  composites: { segment: 'composite-configurations', id: 'listCompositeVersionNodes' },
};

const VersionNode = z
  .object({
    ...PastNodeShape,
    via: z
      .string()
      .nullable()
      .meta({
        description: `\`${DIRECT}\`, else the name of the composite that brought it; null where the caller may not read that`,
      }),
  })
  .meta({ id: 'VersionNode', examples: [{ ...PAST_EXAMPLE, via: DIRECT }] });

interface Call {
  principal: UserPrincipal;
  params: Record<string, string>;
  query: { at?: number | undefined };
  facts: RequestFacts;
}

export function versionNodesRoute(tools: ProofTools, kind: ResourceKind): Route {
  const { database, questions } = tools;
  const { segment, id } = SPECS[kind];
  return permitted(database, ['Proof'], 'nodes.read').list(
    `/api/v1/${segment}/{name}/versions/{version}/nodes`,
    {
      id,
      summary: 'The nodes that ran this version at a time, by whatever way, by fqdn',
      description: `The caller also needs Read on it. Nodes that were deleted since are among them. ${ABOUT_PAST}`,
      query: Paging.extend({ at: At }),
      answer: { description: 'The nodes', schema: VersionNode },
      problems: ['past_gone', ...READING_REPOSITORIES],
      async rows({ query: { take, skip, at }, ...call }) {
        const question = await questionOf(tools, kind, { ...call, query: { at } });
        const page = { take, skip };
        const { rows, total } = await questions.run(call.principal.userId, 'pastPage', { ...question, page });
        return { rows: rows.map(await showing(tools, kind, call.principal)), total };
      },
      async whole({ query: { at }, ...call }) {
        const question = await questionOf(tools, kind, { ...call, query: { at } });
        const slices = await wholePast({ questions }, call.principal.userId, question);
        return shownBy(slices, await showing(tools, kind, call.principal));
      },
      show: (row) => row,
    },
  );
}

async function showing({ database }: ProofTools, kind: ResourceKind, principal: UserPrincipal) {
  const readable = await readableComposites(database.read, principal);
  const viaOf = ({ isComposite, configurationName }: PastRow) => {
    if (kind === 'composites' || isComposite !== true || configurationName === null) return DIRECT;
    return readable.has(configurationName) ? configurationName : null;
  };
  return (row: PastRow) => ({ ...toPastNode(row), via: viaOf(row) });
}

async function* shownBy<T>(slices: AsyncIterable<readonly PastRow[]>, show: (row: PastRow) => T) {
  for await (const rows of slices) yield rows.map(show);
}

/**
 * Retention may have deleted the version since, so it is enough that nodes ran it.
 * @throws HawserError not_found where the caller may not read it, and for a draft and a version of which nothing is known
 */
async function questionOf(
  { database, store, caughtUp }: ProofTools,
  kind: ResourceKind,
  { principal, params, query, facts }: Call,
): Promise<PastQuestion> {
  const { name = '', version = '' } = params;
  const resource = await grantedResource(database.read, principal, GRANT_KINDS[kind], 'Read', { name });
  const at = await momentOf(database, facts.now, query.at);
  await caughtUp();
  await notFoundIfDeleted(database, kind, resource.id, async () => {
    const ref = (await store.versions({ kind, name: resource.name })).get(version);
    if (ref?.status === 'Published') return;
    const table = kind === 'composites' ? 'manifests' : 'manifest_parts';
    const kept = await database.read
      .selectFrom(table)
      .select('version')
      .where('configuration_name', '=', resource.name)
      .where('version', '=', version)
      .limit(1)
      .executeTakeFirst();
    if (kept === undefined) throw notFound('No such published version');
  });
  return { at, within: { kind, name: resource.name, version } };
}
