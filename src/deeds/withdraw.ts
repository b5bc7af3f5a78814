/** Takes published versions back, and offers them again, in the name of a user, and tells before what that would do. */

import type { GrantLevel } from '../domain/permissions.ts';
import { haltByWithdrawal, type Withdrawn } from '../domain/rollout-machine.ts';
import { conflict, notFound } from '../lib/errors.ts';
import type { FleetTools } from '../resolve/fleet-tasks.ts';
import type { FileWithdrawalEffect, WithdrawalEffect } from '../resolve/withdrawal-effect.ts';
import { readableComposites } from '../security/rights.ts';
import { type AuthorTools, authorBesideRollouts, authorVersions } from '../versions/author.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { isUnreadable } from '../versions/rollout-branch.ts';
import { move, type RolloutTarget } from '../versions/rollouts.ts';
import { notFoundIfDeleted, type ResourceKind, type Target } from '../versions/rows.ts';
import {
  type LockedRepository,
  ONLY_SERIES,
  type RolloutRef,
  type VersionDetails,
  type VersionIndex,
} from '../versions/types.ts';
import { type AuditChange, recordAll } from '../versions/version-records.ts';
import { requireDoneAlone } from './protection.ts';
import { type FileName, type FileTarget, publishing, requireFile } from './put-parameters.ts';
import { requireSigned, type SignatureTools } from './required-signatures.ts';

/** Who asks what withdrawing would do. */
type Asking<T extends Target> = Omit<T, 'actor'>;

/**
 * Withdraws a published version, which ends its rollout. One that is withdrawn already stays as it is, with its first reason.
 * @param reason as `tidyText` leaves it
 * @throws HawserError not_found without such a version; conflict `not_published` for a draft, `versions_changed`, or
 *   `in_use` while another tag is in the way
 */
export function withdrawVersion(
  tools: AuthorTools,
  target: Target<ResourceKind>,
  version: string,
  reason: string,
): Promise<VersionDetails> {
  return authorVersions(tools, target, (author) =>
    author.withdraw(version, reason, {
      first: async (writer, { rollout }) => halt(writer, target, rollout, 'version'),
    }),
  );
}

async function halt(
  writer: LockedRepository,
  target: RolloutTarget,
  rollout: RolloutRef | null,
  what: Withdrawn,
): Promise<readonly AuditChange[]> {
  if (rollout === null || isUnreadable(rollout.record)) return [];
  return move(writer, target, rollout, haltByWithdrawal(rollout.record, what));
}

/**
 * Offers a withdrawn version again.
 * @throws HawserError not_found without such a version, and for one that is not withdrawn; conflict `versions_changed`,
 *   `change_set_required`, `signature_required`, `signature_invalid`, or `rollout_running` while a lower version rolls out
 */
export function offerVersionAgain(
  tools: AuthorTools & SignatureTools,
  target: Target<ResourceKind>,
  version: string,
): Promise<void> {
  const { kind, resource, actor } = target;
  const on = kind === 'composites' ? { compositeName: resource.name } : { configurationName: resource.name };
  return authorVersions(tools, target, async (author) => {
    await requireDoneAlone(tools, actor, { kind: 'Restore', ...on, version });
    const ref = author.index().get(version);
    if (kind === 'configurations' && ref?.status === 'Published' && ref.withdrawn !== null)
      await requireSigned(tools, { resource, ref, now: actor.at });
    await author.offerAgain(version);
  });
}

/**
 * Withdraws a published parameter file, of a scope type that is switched off too, which ends the rollout of it.
 * @throws HawserError as `withdrawVersion`
 */
export async function withdrawFile(
  tools: AuthorTools,
  target: FileTarget,
  name: FileName,
  { reason, needed = 'Manage' }: { reason: string; needed?: GrantLevel },
): Promise<void> {
  const { resource, principal, actor } = target;
  const owner = { kind: 'configurations', resource } as const;
  await authorBesideRollouts(tools, target, async (author, configuration) => {
    const { scope } = await requireFile(tools, target, name, needed);
    let halted: readonly AuditChange[] = [];
    await author.withdraw(name.version, reason, {
      series: seriesOf(scope),
      async first(_writer, { oid }) {
        const { rollouts } = configuration.index.of(ONLY_SERIES);
        const by = { ...owner, principal, actor };
        for (const rollout of rollouts)
          if (rollout.record.parameters.some(({ tag }) => tag === oid))
            halted = [...halted, ...(await halt(configuration, by, rollout, 'file'))];
        return [];
      },
      record: (entries, writer) =>
        recordAll(
          tools.database,
          [
            ...(halted.length > 0 ? [{ owner, writer: configuration, entries: halted }] : []),
            { owner: target, writer, entries },
          ],
          actor,
        ),
    });
  });
}

/** Offers a withdrawn parameter file again. @throws HawserError as `offerVersionAgain` */
export function offerFileAgain(tools: AuthorTools, target: FileTarget, name: FileName): Promise<void> {
  return authorVersions(tools, target, async (author) => {
    const found = await requireFile(tools, target, name, 'Manage');
    const deed = { ...publishing(target, found, name.version), kind: 'RestoreParameters' } as const;
    await requireDoneAlone(tools, target.actor, deed);
    await author.offerAgain(name.version, seriesOf(found.scope));
  });
}

/**
 * What withdrawing a version would do. It names no composite and no node that the caller may not read.
 * @throws HawserError not_found without such a version; conflict `not_published` for a draft
 */
export async function withdrawalEffect(
  { database, store, questions }: FleetTools,
  { kind, resource: { id, name }, principal }: Asking<Target<ResourceKind>>,
  version: string,
): Promise<WithdrawalEffect> {
  return notFoundIfDeleted(database, kind, id, async () => {
    requirePublished(await store.versions({ kind, name }), version);
    const question = { assigned: { kind, id, name }, version };
    const effect = await questions.run(principal.userId, 'withdrawalEffect', question);
    const readable = await readableComposites(database.read, principal);
    return {
      ...effect,
      pinnedNodes: principal.permissions.has('nodes.read') ? effect.pinnedNodes : [],
      pinnedBy: effect.pinnedBy.filter(({ compositeName }) => readable.has(compositeName)),
    };
  });
}

/** What withdrawing a parameter file would do. @throws HawserError as `withdrawalEffect` */
export async function fileWithdrawalEffect(
  tools: FleetTools,
  { resource: { id, name }, principal }: Asking<FileTarget>,
  file: FileName,
): Promise<FileWithdrawalEffect> {
  const { version } = file;
  const { scope } = await requireFile(tools, { resource: { id, name }, principal }, file, 'Manage');
  const series = seriesOf(scope);
  requirePublished((await tools.store.parameters.index(name)).of(series), version);
  const question = { assigned: { kind: 'configurations', id, name } as const, series, version };
  return tools.questions.run(principal.userId, 'fileWithdrawalEffect', question);
}

function requirePublished(index: VersionIndex, version: string): void {
  const ref = index.get(version);
  if (ref === undefined) throw notFound('No such version');
  if (ref.status !== 'Published') throw conflict('not_published', 'The version is a draft');
}
