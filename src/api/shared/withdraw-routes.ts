/** `.../versions/{version}/withdraw` of configurations and composites: takes a published version back, or offers it again. */

import { z } from 'zod';
import { offerVersionAgain, withdrawalEffect, withdrawVersion } from '../../deeds/withdraw.ts';
import { tidyText } from '../../git/trailers.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Flag, given, Reason } from '../../http/schemas.ts';
import { invalidField } from '../../lib/errors.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { ResourceTools } from '../../versions/resources.ts';
import { GRANT_KINDS, type ResourceKind } from '../../versions/rows.ts';
import type { VersionDetails } from '../../versions/store.ts';
import { grantedRoutes } from './versioned.ts';

const NewWithdrawal = z
  .strictObject({
    reason: Reason.nullish().meta({ description: 'Required, except for a dry run' }),
  })
  .meta({ id: 'NewWithdrawal', examples: [{ reason: 'It fills the disk of the web servers' }] });

const EFFECT = {
  ...{ nodes: 12, direct: 9, viaComposites: 3 },
  wouldGet: [{ version: '1.1.0', nodes: 12 }],
  pinned: 1,
  pinnedNodes: [{ nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84', fqdn: 'web-01.example.org' }],
  pinnedBy: [{ compositeName: 'web-farm', version: '1.0.0' }],
};

export const EffectView = z
  .object({
    nodes: z.int().meta({
      description:
        'How many nodes are offered the version now, and would get another one: the sum of the next two',
    }),
    direct: z.int().meta({ description: 'Of those, nodes to which it is assigned' }),
    viaComposites: z
      .int()
      .meta({ description: 'Nodes that get it as a child of a composite, which follows' }),
    wouldGet: z.array(z.object({ version: z.string().nullable(), nodes: z.int() })).meta({
      description: 'What they would get instead, highest first; null, at the end, is nothing',
    }),
    pinned: z.int().meta({
      description:
        'How many nodes keep it, because an exact version holds it, of the assignment or of the child',
    }),
    pinnedNodes: z.array(z.object({ nodeId: z.string(), fqdn: z.string() })).meta({
      description: 'The first 20 of them by fqdn; none for callers without `nodes.read`',
    }),
    pinnedBy: z.array(z.object({ compositeName: z.string(), version: z.string() })).meta({
      description: 'Versions of composites that are pinned to it and keep it, drafts too',
    }),
  })
  .meta({
    id: 'WithdrawalEffect',
    examples: [EFFECT],
  });

type WithdrawalTools = ResourceTools & FleetTools;

interface Spec {
  kind: ResourceKind;
  tags: readonly string[];
  /** The path of the version. */
  path: string;
  /** The operation ids of PUT and DELETE. */
  ids: { withdraw: string; offer: string };
  /** The name of the answer in the OpenAPI document. */
  answer: string;
  view: z.ZodType;
  show(target: { resource: GrantedResource; principal: UserPrincipal }, details: VersionDetails): unknown;
}

export function withdrawRoutes(
  tools: WithdrawalTools,
  { kind, tags, path: represents, ids, answer, view, show }: Spec,
): Route[] {
  const { managing } = grantedRoutes(tools.database, tags, { on: GRANT_KINDS[kind] });
  const path = `${represents}/withdraw`;
  return [
    managing.update(path, {
      id: ids.withdraw,
      changesNodes: ({ query }) => query.dryRun !== true,
      represents,
      summary: 'Withdraw a published version; nodes get the next that fits at their next poll',
      description:
        'Its tag, files and history stay, and whoever is pinned to it by its exact version still gets it. A version ' +
        'that is withdrawn already stays as it is. With `dryRun=true` nothing is changed, and the answer says which ' +
        'nodes would get another version.',
      query: z.object({
        dryRun: given(Flag).meta({ description: 'Only says what would happen' }),
      }),
      body: { kind: 'json', schema: NewWithdrawal, isOptional: true },
      answer: {
        description: 'The version as it is now, or what would happen',
        schema: z.union([view, EffectView]).meta({ id: answer, examples: [EFFECT] }),
      },
      problems: ['not_published', 'versions_changed', 'state_changed', 'in_use', ...WRITING_REPOSITORIES],
      async handle({ caller, resource, params, query, body }) {
        const version = params['version'] ?? '';
        if (query.dryRun)
          return withdrawalEffect(tools, { kind, resource, principal: caller.principal }, version);
        const { reason } = body;
        if (typeof reason !== 'string')
          throw invalidField('/reason', 'Say why, in 1 to 1,000 characters', 'required');
        const target = { kind, resource, ...caller };
        const shown = { resource, principal: caller.principal };
        return show(shown, await withdrawVersion(tools, target, version, tidyText(reason) ?? ''));
      },
    }),
    managing.delete(path, {
      id: ids.offer,
      changesNodes: true,
      represents,
      summary: 'Offer a withdrawn version again',
      answer: { description: 'The version is offered again' },
      problems: ['versions_changed', 'rollout_running', ...WRITING_REPOSITORIES],
      handle: ({ caller, resource, params }) =>
        offerVersionAgain(tools, { kind, resource, ...caller }, params['version'] ?? ''),
    }),
  ];
}
