/** Starts rollouts: a version, parameter files, or both reach the nodes ring by ring. */

import type { Db } from '../db/database.ts';
import { findScopeTypeByName, findScopeValue, orderedValuesOf } from '../db/scope-types.ts';
import { readRolloutSettings } from '../db/settings.ts';
import { ASSIGNMENTS, PARAMETER_WRITES } from '../domain/lock-names.ts';
import type { OnHalt } from '../domain/rollout.ts';
import { beginRollout } from '../domain/rollout-machine.ts';
import { type PlannedStep, planFaults } from '../domain/rollout-plan.ts';
import { NODE_SCOPE_TYPE_ID, scopeKey } from '../domain/scopes.ts';
import { conflict, type FieldError, invalid, notFound } from '../lib/errors.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { atFile, type FileToRoll, startRollout as writeStart } from '../versions/rollouts.ts';
import { type ResourceKind, requireRow, type Target } from '../versions/rows.ts';
import type { PublishRules } from '../versions/rules.ts';
import type { ParameterScope } from '../versions/scope-names.ts';
import type { RolloutRef, VersionRef } from '../versions/types.ts';
import type { WantedFile } from './changes.ts';
import type { ConfigurationTools } from './create-draft.ts';
import type { CheckTools, ParameterTools } from './parameter-checks.ts';
import { ownerOf } from './parameter-scopes.ts';
import { requireDoneAlone } from './protection.ts';
import { judgeDraft as judgeConfiguration } from './publish.ts';
import { type CompositeTools, judgePublish as judgeComposite } from './publish-composite.ts';
import { judgeFile, scopeToPublish } from './put-parameters.ts';
import type { SignatureTools } from './required-signatures.ts';
import { requireModify } from './rollout-rights.ts';

export type RolloutTools = Pick<ConfigurationTools, 'compatibility'> &
  CompositeTools &
  ParameterTools &
  SignatureTools;

/** What is to be rolled out, and how. */
export interface WantedRollout {
  /** Absent where parameter files roll out alone. */
  version?: string | undefined;
  parameters?: readonly WantedFile[] | undefined;
  /** In the order in which they open. A ring is named in any case. */
  steps: readonly PlannedStep[];
  onHalt: OnHalt;
  message?: string | undefined;
}

/**
 * Rolls a version out, parameter files, or both. Drafts are published into their rollout, by the rules of publishing.
 * @throws HawserError not_found; forbidden for a file; conflict `no_rings`, `change_set_required`; invalid for the plan; as `writeStart`, and as publishing
 */
export function startRollout(
  tools: RolloutTools,
  target: Target<ResourceKind>,
  { version, parameters = [], onHalt, message, ...plan }: WantedRollout,
): Promise<RolloutRef> {
  const { principal, actor } = target;
  // It is shared with all who write parameters, and keeps the scope type and its values as they are.
  return tools.locks.share(PARAMETER_WRITES, async () => {
    if (version !== undefined) await requireModify(tools.database.read, target);
    const { scopeType, steps } = await requirePlan(tools.database.read, plan.steps);
    const files = await filesToRoll(tools, target, { version, parameters });
    const { name } = target.resource;
    const owner = target.kind === 'composites' ? { compositeName: name } : { configurationName: name };
    await requireDoneAlone(tools, actor, {
      kind: 'StartRollout',
      ...owner,
      version,
      parameters,
      steps,
      onHalt,
    });
    const start = {
      ...{ version: version ?? null, files, message },
      rules: rulesOf(tools, target),
      begin: (what: Parameters<Parameters<typeof writeStart>[2]['begin']>[0]) =>
        beginRollout({ ...what, scopeType, steps, onHalt, createdBy: principal.username, at: actor.at }),
    };
    // The children of a composite must keep the versions that its nodes are about to get.
    return tools.locks.share(ASSIGNMENTS, () => writeStart(tools, target, start));
  });
}

/** The steps, with the rings as they are spelled. @throws HawserError conflict `no_rings`; invalid for steps that are no plan */
export async function requirePlan(db: Db, planned: readonly PlannedStep[]) {
  const { scopeType, values } = await requireRings(db);
  const spellings = new Map(values.map((value) => [scopeKey(value), value]));
  const steps = planned.map(({ ring, ...step }) => {
    return { ...step, ring: ring === null ? null : (spellings.get(scopeKey(ring)) ?? ring) };
  });
  const faults = planFaults(steps, values);
  if (faults.length > 0) throw invalid('validation_failed', 'The steps cannot be rolled out', faults);
  return { scopeType, steps };
}

/** The files with their scopes, which the caller may publish. */
async function filesToRoll(
  tools: RolloutTools,
  target: Target<ResourceKind>,
  { version, parameters }: { version: string | undefined; parameters: readonly WantedFile[] },
): Promise<FileToRoll[]> {
  if (parameters.length === 0) return [];
  const { resource, principal } = target;
  const rights = await SeriesRights.of(tools.database.read, principal, resource.id);
  const found = await findFiles(tools, parameters, (scope) => rights.require(scope, 'Modify'));
  return found.map((file) => ({
    ...file,
    rules: async (ref) =>
      (await judgeFile(tools, { resource, principal, asPublished: version }, ref)).blockers,
  }));
}

/**
 * Finds the scopes of files that are to roll out.
 * @throws HawserError what `admit` throws; not_found; invalid where one is named twice
 */
export async function findFiles(
  tools: Pick<CheckTools, 'database'>,
  parameters: readonly WantedFile[],
  admit: (scope: ParameterScope) => void = () => undefined,
): Promise<Omit<FileToRoll, 'rules'>[]> {
  const { read } = tools.database;
  const files: Omit<FileToRoll, 'rules'>[] = [];
  const named = new Set<string>();
  for (const [at, { scopeTypeName, scopeValue, version }] of parameters.entries()) {
    const file = await atFile(at, async () => {
      const { type, scope } = await scopeToPublish(tools, { type: { name: scopeTypeName }, scopeValue });
      admit(scope);
      const nodeId = await ownerOf(read, type, scope);
      const scopeValueId =
        scope.value === null ? null : (nodeId ?? (await valueId(read, type.id, scope.value)));
      if (scope.value !== null && scopeValueId === null) throw notFound('The scope has no such version');
      return {
        scope: {
          ...{ scopeTypeId: type.id, scopeTypeName: type.name },
          ...{ scopeValueId, scopeValue: scope.value },
        },
        ...{ version, nodeId },
        isOwn: ({ nodeId: of }: VersionRef) =>
          type.id !== NODE_SCOPE_TYPE_ID || of === undefined || of === nodeId,
      };
    });
    const series = scopeKey(seriesOf({ scopeType: file.scope.scopeTypeName, value: file.scope.scopeValue }));
    if (named.has(series)) throw invalid('validation_failed', TWICE, [twice(at)]);
    named.add(series);
    files.push(file);
  }
  return files;
}

const TWICE = 'A scope is named twice; a rollout takes one file of each';

const twice = (at: number): FieldError => ({
  path: `/parameters/${at}`,
  message: TWICE,
  code: 'duplicate_name',
});

async function valueId(db: Db, typeId: string, value: string): Promise<string | null> {
  if (typeId === NODE_SCOPE_TYPE_ID) return null;
  return (await findScopeValue(db, typeId, value))?.id ?? null;
}

/** The scope type whose values are the rings, and these in their order. @throws HawserError conflict `no_rings` */
export async function requireRings(db: Db) {
  const { rolloutScopeType } = await readRolloutSettings(db);
  const type = rolloutScopeType === null ? undefined : await findScopeTypeByName(db, rolloutScopeType);
  if (type === undefined) {
    const message =
      'The setting rolloutScopeType names no scope type; name the one there whose values are the rings';
    throw conflict('no_rings', message);
  }
  const values = await orderedValuesOf(db, type.id);
  return { scopeType: { id: type.id, name: type.name }, values: values.map(({ value }) => value) };
}

/** The rules for publishing. They are asked under the lock. */
function rulesOf(
  tools: RolloutTools,
  { kind, resource, principal, actor }: Target<ResourceKind>,
): PublishRules {
  if (kind === 'composites') return (draft) => judgeComposite(tools, { resource, principal }, draft);
  return async (ref) => {
    const row = await requireRow(tools.database.read, 'configurations', resource.id);
    return (await judgeConfiguration(tools, row, ref, { principal, now: actor.at })).blockers;
  };
}
