/** `.../versions/{version}/withdraw`: takes a published version or parameter file back, or offers it again. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { offerVersionAgain, withdrawalEffect, withdrawVersion } from '../../deeds/withdraw.ts';
import { tidyText } from '../../git/trailers.ts';
import { type ProblemName, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Flag, given, Reason } from '../../http/schemas.ts';
import { invalidField } from '../../lib/errors.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { GrantAccess, GrantedResource } from '../../security/access.ts';
import type { Caller } from '../../security/caller.ts';
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

export const FOLLOWING = {
  ...{ nodes: 12, direct: 9, viaComposites: 3 },
  wouldGet: [{ version: '1.1.0', nodes: 12 }],
};

const EffectOnFollowers = z.object({
  nodes: z.int().meta({
    description:
      'How many nodes are offered the version now, and would get another one: the sum of the next two',
  }),
  direct: z.int().meta({ description: 'Of those, nodes to which the configuration is assigned' }),
  viaComposites: z.int().meta({ description: 'Nodes that get it as a child of a composite' }),
  wouldGet: z.array(z.object({ version: z.string().nullable(), nodes: z.int() })).meta({
    description: 'What they would get instead, highest first; null, at the end, is nothing',
  }),
});

export const FileEffectView = EffectOnFollowers.meta({ id: 'FileWithdrawalEffect', examples: [FOLLOWING] });

const EFFECT = {
  ...FOLLOWING,
  pinned: 1,
  pinnedNodes: [{ nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84', fqdn: 'web-01.example.org' }],
  pinnedBy: [{ compositeName: 'web-farm', version: '1.0.0' }],
};

export const EffectView = EffectOnFollowers.extend({
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
}).meta({ id: 'WithdrawalEffect', examples: [EFFECT] });

/** Who asks for which version. */
interface Named<P, Q> {
  caller: Caller;
  resource: GrantedResource;
  params: P;
  query: Q;
}

interface TakingBack<P, Q> {
  access: Pick<GrantAccess, 'on' | 'by'>;
  tags: readonly string[];
  /** The path of the version, what is in it, and what names the version beside it. */
  path: string;
  params?: z.ZodType<P>;
  query: z.ZodObject & z.ZodType<Q>;
  /** The operation ids of PUT and DELETE. */
  ids: { withdraw: string; offer: string };
  description: string;
  /** What offering again answers beside the rest. */
  problems?: readonly ProblemName[];
  answer: z.ZodType;
  effect(named: Named<P, Q>): Promise<unknown>;
  withdraw(named: Named<P, Q>, reason: string): Promise<unknown>;
  offer(named: Named<P, Q>): Promise<void>;
}

const OFFERING = ['versions_changed', 'rollout_running', 'change_set_required'];

/** The routes by which something is taken back. */
export function takingBack<P, Q>(database: Database, spec: TakingBack<P, Q>): Route[] {
  const { path: represents, ids, description, answer, query, params, problems = [] } = spec;
  const { managing } = grantedRoutes(database, spec.tags, spec.access);
  const path = `${represents}/withdraw`;
  const named = { represents, ...(params && { params }) };
  const withDryRun = query.extend({
    dryRun: given(Flag).meta({ description: 'Only says what would happen' }),
  }) as unknown as z.ZodType<Q & { dryRun?: boolean | undefined }>;
  return [
    managing.update(path, {
      ...named,
      id: ids.withdraw,
      changesNodes: ({ query: { dryRun } }) => dryRun !== true,
      summary: 'Withdraw a published version; nodes get the next that fits at their next poll',
      description:
        `Its tag, files and history stay${description}. A version that is withdrawn already stays as it is. With ` +
        '`dryRun=true` nothing is changed, and the answer says which nodes would get another version.',
      query: withDryRun,
      body: { kind: 'json', schema: NewWithdrawal, isOptional: true },
      answer: { description: 'The version as it is now, or what would happen', schema: answer },
      problems: ['not_published', 'versions_changed', 'state_changed', 'in_use', ...WRITING_REPOSITORIES],
      async handle(call) {
        if (call.query.dryRun) return spec.effect(call);
        const { reason } = call.body;
        if (typeof reason !== 'string')
          throw invalidField('/reason', 'Say why, in 1 to 1,000 characters', 'required');
        return spec.withdraw(call, tidyText(reason) ?? '');
      },
    }),
    managing.delete(path, {
      ...named,
      query,
      id: ids.offer,
      changesNodes: true,
      summary: 'Offer a withdrawn version again',
      answer: { description: 'The version is offered again' },
      problems: [...OFFERING, ...problems, ...WRITING_REPOSITORIES],
      handle: (call) => spec.offer(call),
    }),
  ];
}

type WithdrawalTools = ResourceTools & FleetTools;

interface Spec extends Pick<TakingBack<unknown, unknown>, 'tags' | 'path' | 'ids'> {
  kind: ResourceKind;
  /** The name of the answer in the OpenAPI document. */
  answer: string;
  view: z.ZodType;
  show(target: Shown, details: VersionDetails): unknown;
}

/** Whose version is shown, to whom and when. */
interface Shown {
  resource: GrantedResource;
  principal: UserPrincipal;
  facts: { now: number };
}

/** Those of configurations or composites. */
export function withdrawRoutes(tools: WithdrawalTools, { kind, answer, view, show, ...spec }: Spec): Route[] {
  const versionIn = (params: Record<string, string>) => params['version'] ?? '';
  return takingBack<Record<string, string>, object>(tools.database, {
    ...spec,
    problems: kind === 'configurations' ? ['signature_required', 'signature_invalid'] : [],
    access: { on: GRANT_KINDS[kind] },
    query: z.object({}),
    description: ', and whoever is pinned to it by its exact version still gets it',
    answer: z.union([view, EffectView]).meta({ id: answer, examples: [EFFECT] }),
    effect: ({ caller: { principal }, resource, params }) =>
      withdrawalEffect(tools, { kind, resource, principal }, versionIn(params)),
    async withdraw({ caller, resource, params }, reason) {
      const target = { kind, resource, ...caller };
      const { principal } = caller;
      const facts = { now: caller.actor.at };
      return show(
        { resource, principal, facts },
        await withdrawVersion(tools, target, versionIn(params), reason),
      );
    },
    offer: ({ caller, resource, params }) =>
      offerVersionAgain(tools, { kind, resource, ...caller }, versionIn(params)),
  });
}
