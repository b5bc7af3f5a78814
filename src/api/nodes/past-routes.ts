/** `/api/v1/nodes/{nodeId}/history`: what a node ran, one row for each stretch. */

import { z } from 'zod';
import { evidenceAt, historyFrom, listStretches, NOW, type Stretch } from '../../db/past.ts';
import type { Route } from '../../http/route.ts';
import { Checksum, idsInPath, Paging, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { ABOUT_PAST, Evidence, ofManifest, requirePastNode } from '../shared/past.ts';
import type { ProofTools } from '../shared/proof-routes.ts';
import { permitted } from '../shared/routes.ts';

const Told = (what: string) =>
  Timestamp.nullable().meta({
    description: `When ${what} first; null where it was not, or stronger came before`,
  });

const NodeStretch = z
  .object({
    checksum: Checksum.meta({ description: 'What it ran' }),
    configurationName: ofManifest(z.string()),
    isComposite: ofManifest(z.boolean()),
    version: ofManifest(z.string()),
    from: Timestamp.meta({ description: 'Belongs to the stretch' }),
    to: Timestamp.nullable().meta({ description: 'Does not belong to the stretch. Null: now' }),
    evidence: Evidence.meta({ description: 'The strongest at its end' }),
    toldAt: Told('a poll was answered with it'),
    servedAt: Told('a bundle of it was sent whole'),
    declaredAt: Told('the node named it'),
  })
  .meta({
    id: 'NodeStretch',
    examples: [
      {
        checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        configurationName: 'web-server',
        isComposite: false,
        version: '1.2.0',
        from: '2026-11-20T09:08:00.000Z',
        to: null,
        evidence: 'Declared',
        toldAt: '2026-11-20T09:08:00.000Z',
        servedAt: '2026-11-20T09:08:01.000Z',
        declaredAt: '2026-11-20T09:10:00.000Z',
      },
    ],
  });

/** Rows of a list that is sent whole, for each read. */
const SLICE = 500;

export function nodeHistoryRoute({ database, caughtUp }: Pick<ProofTools, 'database' | 'caughtUp'>): Route {
  const { read } = database;
  return permitted(database, ['Nodes'], 'nodes.read').list('/api/v1/nodes/{nodeId}/history', {
    id: 'listNodeHistory',
    summary: 'What the node ran, newest first',
    description: `A deleted node is named by its id. ${ABOUT_PAST}`,
    params: idsInPath('nodeId'),
    query: Paging,
    answer: { description: 'The stretches', schema: NodeStretch },
    async rows({ params: { nodeId }, query, facts }) {
      await caughtUp();
      await requirePastNode(database, nodeId);
      return listStretches(read, nodeId, await historyFrom(read, facts.now), query);
    },
    async whole({ params: { nodeId }, facts }) {
      await caughtUp();
      await requirePastNode(database, nodeId);
      const from = await historyFrom(read, facts.now);
      return inSlices((skip) => listStretches(read, nodeId, from, { take: SLICE, skip }));
    },
    show: toStretch,
  });
}

async function* inSlices(read: (skip: number) => Promise<{ rows: Stretch[] }>) {
  for (let skip = 0; ; skip += SLICE) {
    const { rows } = await read(skip);
    if (rows.length === 0) return;
    yield rows;
  }
}

function toStretch({ checksum, configurationName, isComposite, version, ...times }: Stretch) {
  const { from, to, toldAt, servedAt, declaredAt } = times;
  return {
    ...{ checksum, configurationName, isComposite, version },
    ...{ from: toTimestamp(from), to: toOptionalTimestamp(to) },
    evidence: evidenceAt({ toldAt, servedAt, declaredAt }, NOW).evidence,
    ...{ toldAt: toOptionalTimestamp(toldAt), servedAt: toOptionalTimestamp(servedAt) },
    declaredAt: toOptionalTimestamp(declaredAt),
  };
}
