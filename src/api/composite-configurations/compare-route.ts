/** `/api/v1/composite-configurations/{name}/compare`: how the children of two versions differ. */

import { z } from 'zod';
import type { CompositeTools } from '../../deeds/publish-composite.ts';
import type { CompositeChild, CompositeDocument } from '../../domain/composite-document.ts';
import { json } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { sortByBytes } from '../../lib/byte-order.ts';
import { notFoundIfDeleted } from '../../versions/rows.ts';
import {
  ComparedVersionView,
  findTwoVersions,
  TwoVersions,
  toComparedVersion,
  unlessHeld,
  validatorOf,
} from '../shared/comparing.ts';
import { grantedRoutes } from '../shared/versioned.ts';

const ChildSide = z
  .object({
    activeVersion: z.string().nullable(),
    majorVersion: z.int().optional().meta({ description: 'Of a child that follows one major; else absent' }),
    order: z.int(),
  })
  .nullable()
  .meta({ description: 'Null where the version has no such child' });

export const CompositeComparisonView = z
  .object({
    from: ComparedVersionView.nullable(),
    to: ComparedVersionView,
    entryPoint: z.object({ before: z.string().nullable(), after: z.string() }),
    children: z
      .array(
        z.object({
          childConfigurationName: z.string(),
          change: z.enum(['Added', 'Removed', 'Modified', 'Unchanged']),
          before: ChildSide,
          after: ChildSide,
        }),
      )
      .meta({ description: 'By name, those that are the same too' }),
  })
  .meta({
    id: 'CompositeComparison',
    examples: [
      {
        from: { version: '1.0.0', status: 'Published', commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1' },
        to: { version: '1.1.0', status: 'Draft', commit: '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567' },
        entryPoint: { before: 'main.dsc.yaml', after: 'main.dsc.yaml' },
        children: [
          {
            childConfigurationName: 'web-server',
            change: 'Modified',
            before: { activeVersion: null, order: 0 },
            after: { activeVersion: '1.2.0', order: 0 },
          },
        ],
      },
    ],
  });

export function compareRoute(tools: CompositeTools): Route {
  const { database, store, composites } = tools;
  const { reading } = grantedRoutes(database, ['Composite versions'], { on: 'composite' });
  return reading.own('GET', '/api/v1/composite-configurations/{name}/compare', {
    id: 'compareCompositeVersions',
    summary: 'Compare the children of two versions, drafts too, in either order',
    query: TwoVersions,
    problems: READING_REPOSITORIES,
    answers: { 200: { description: 'What is different in `to`', schema: CompositeComparisonView } },
    handle: ({ resource: { id, name }, query, facts }) =>
      notFoundIfDeleted(database, 'composites', id, async () => {
        const repository = { kind: 'composites', name } as const;
        const versions = findTwoVersions(await store.versions(repository), query);
        return unlessHeld(facts, validatorOf(versions, 'children'), {}, async () => {
          const { from, to } = versions;
          const before = from && (await composites.document(repository, from));
          const after = await composites.document(repository, to);
          return json({
            from: from && toComparedVersion(await store.details(repository, from)),
            to: toComparedVersion(await store.details(repository, to)),
            entryPoint: { before: before?.entryPoint ?? null, after: after.entryPoint },
            children: compareChildren(before, after),
          });
        });
      }),
  });
}

function compareChildren(before: CompositeDocument | null, after: CompositeDocument) {
  const [old, next] = [byName(before), byName(after)];
  const names = sortByBytes([...new Set([...old.keys(), ...next.keys()])], (name) => name);
  return names.map((name) => {
    const [from, to] = [old.get(name), next.get(name)];
    return {
      ...{ childConfigurationName: name, change: changeOf(from, to) },
      ...{ before: toSide(from), after: toSide(to) },
    };
  });
}

function changeOf(before: CompositeChild | undefined, after: CompositeChild | undefined) {
  if (before === undefined) return 'Added';
  if (after === undefined) return 'Removed';
  const isSame = (['version', 'majorVersion', 'order'] as const).every(
    (name) => before[name] === after[name],
  );
  return isSame ? 'Unchanged' : 'Modified';
}

function toSide(child: CompositeChild | undefined) {
  if (child === undefined) return null;
  const { version: activeVersion, majorVersion, order } = child;
  return { activeVersion, ...(majorVersion !== null && { majorVersion }), order };
}

function byName(document: CompositeDocument | null): Map<string, CompositeChild> {
  return new Map(document?.children.map((child) => [child.configuration, child]));
}
