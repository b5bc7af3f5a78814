/**
 * Carries out many deeds as one step. Each is the single deed itself, under the locks of all, and sees those before it. What it
 * would commit is kept: all rows, refs and entries are made by one transaction, so nobody sees some of the deeds without the others.
 */

import type { Db } from '../db/database.ts';
import { requireNodes } from '../db/nodes.ts';
import { noteRefsMoved } from '../db/repository-rows.ts';
import { endOfSlice, inGroups, oneByOne } from '../db/slices.ts';
import { ASSIGNMENTS, PARAMETER_WRITES, repositoryLock } from '../domain/lock-names.ts';
import type { Signing } from '../domain/signing.ts';
import type { OtherMoves } from '../git/ref-backend.ts';
import { tidyText } from '../git/trailers.ts';
import type { RepositoryKind, RepositoryRef } from '../git/types.ts';
import { internal } from '../lib/errors.ts';
import { HeldLocks } from '../lib/held-locks.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import { Pace, paced } from '../lib/pace.ts';
import { CompositeReader } from '../resolve/composites.ts';
import { OPEN_TO_ANYONE } from '../resolve/open-versions.ts';
import { ParameterReader } from '../resolve/parameters.ts';
import { Planner } from '../resolve/plans.ts';
import { registryOf } from '../resolve/registry.ts';
import { CompatibilityGuard } from '../resolve/schema-compatibility.ts';
import { SchemaReader } from '../resolve/schemas.ts';
import type { Caller } from '../security/caller.ts';
import { tagsOf } from '../versions/outside-tags.ts';
import type { RefStep, StepEffect } from '../versions/ref-step.ts';
import type { Target } from '../versions/rows.ts';
import type { GitStore } from '../versions/store.ts';
import { type AssignmentTools, assignToAll, checkAssignment, requireForAll } from './assign.ts';
import { type Doing, type ReadyDeed, readyDeed } from './bulk.ts';
import { changeConfiguration } from './change-configuration.ts';
import { reorderScopeTypes, switchScopeType } from './change-scope-type.ts';
import type { Change, ChangeOf, NamedFile } from './changes.ts';
import { changeOwnSettings } from './configuration-settings.ts';
import { levelOf, repositoriesOf, type Targeted, targetOf } from './deed-targets.ts';
import type { FormerState } from './former-state.ts';
import { refusalAt } from './judge-changes.ts';
import { orThrow } from './node-outcome.ts';
import type { ParameterTools } from './parameter-checks.ts';
import type { ProposingTools } from './propose-changes.ts';
import { publishVersion } from './publish.ts';
import { publishComposite } from './publish-composite.ts';
import { type FileName, publishFile } from './put-parameters.ts';
import { requireProtectable, setProtection } from './set-protection.ts';
import { startRollout } from './start-rollout.ts';
import { TagGate } from './tag-gate.ts';
import { alreadyTagged, tagAll, untagNode } from './tag-node.ts';
import { offerFileAgain, offerVersionAgain, withdrawFile, withdrawVersion } from './withdraw.ts';

export interface CarryingOutTools extends ProposingTools {
  locks: Locks;
  log: Log;
}

/** What belongs to the step beside its deeds. */
export interface StepFrame {
  /** Looks once more, under all locks and before any deed, whether they may be done. */
  require(): Promise<void>;
  /**
   * Is called once all deeds have been judged.
   * @param make makes them, with moves that come before all others
   */
  commit(step: JudgedStep, make: (first: OtherMoves) => Promise<void>): Promise<void>;
  /** The first thing in the transaction, before any deed. */
  begin(trx: Db): Promise<void>;
  /** The last thing in it. */
  record(trx: Db): Promise<void>;
}

/** A step whose deeds have been judged. */
export interface JudgedStep {
  effects: readonly StepEffect[];
  /** The versions as the step leaves them. */
  store: GitStore;
}

type NodeChange = ChangeOf<'Assign' | 'Unassign' | 'Tag' | 'Untag' | 'SetTags' | 'SetLcmConfig'>;

/** What is written once the step is made. */
type Write = (trx: Db) => Promise<unknown>;

/** What is to be done. */
export interface Ordered {
  changes: readonly Change[];
  former: FormerState;
  frame: StepFrame;
}

/**
 * @throws HawserError forbidden or not_found for a deed that the caller may not do; what the first deed that cannot be carried out
 *   answers, with its errors behind `/deeds/<index>`; conflict `versions_changed`; locked `frozen`. Nothing is changed then
 */
export async function carryOut(
  tools: CarryingOutTools,
  caller: Caller,
  { changes, former, frame }: Ordered,
): Promise<void> {
  const { database, store, locks } = tools;
  const targets: Targeted[] = [];
  for await (const change of paced(changes))
    targets.push(await targetOf(database.read, caller.principal, change, former));
  const refs: RepositoryRef[] = [];
  for await (const [place, change] of paced(changes.entries()))
    refs.push(...(await repositoriesOf(store, change, targets[place] ?? null)));
  const writes: { at: number; write: Write }[] = [];
  let at = 0;
  const keep = (write: Write) => void writes.push({ at, write });
  const onRefsMoved = async (repository: RepositoryRef, _isAwaited: boolean, trx?: Db) => {
    const note = (db: Db) => noteRefsMoved(db, repository, caller.actor.at);
    if (trx) await note(trx);
    else keep(note);
  };
  await withLocks(locks, changes, async (held) => {
    const inStep = new HeldLocks(locks, [...held, ...refs.map(repositoryLock)]);
    await store.together(refs, { locks: inStep, onRefsMoved }, async (step) => {
      const kept = { ...database, transact: async (write: Write) => keep(write) };
      const inside = { ...tools, database: kept, locks: inStep, store: step.store };
      const deeds = new Deeds(inside, { caller, former, keep });
      await frame.require();
      for await (const change of paced(changes)) {
        await refusedAt(at, () => deeds.carryOut(change, targets[at] ?? null));
        at += 1;
      }
      const effects = await step.effects();
      await frame.commit({ effects, store: step.store }, (first) =>
        commit(tools, step, { writes, effects, first, frame }),
      );
    });
  });
}

interface Committed {
  writes: readonly { at: number; write: Write }[];
  effects: readonly StepEffect[];
  first: OtherMoves;
  frame: StepFrame;
}

/** Makes all at once. */
async function commit(
  { database }: Pick<CarryingOutTools, 'database'>,
  step: RefStep<GitStore>,
  { writes, effects, first, frame }: Committed,
): Promise<void> {
  const ready = await step.ready(effects, first);
  const pace = new Pace();
  try {
    try {
      await database.write.transaction().execute(async (trx) => {
        await frame.begin(trx);
        for (const { at, write } of writes) {
          await refusedAt(at, () => write(trx));
          if (pace.isDue) await pace.rest();
        }
        await frame.record(trx);
        await ready.commit(trx);
      });
    } catch (error) {
      ready.takeBack();
      throw error;
    }
    ready.settle();
    await ready.flush();
  } finally {
    await ready.end();
  }
}

async function refusedAt<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalAt(`/deeds/${at}`, error);
  }
}

/** Takes the locks that come before those of repositories, in their order. */
async function withLocks(
  locks: Locks,
  changes: readonly Change[],
  work: (held: readonly string[]) => Promise<void>,
): Promise<void> {
  const has = (...kinds: readonly Change['kind'][]) => changes.some(({ kind }) => kinds.includes(kind));
  const assigning = (held: readonly string[]) =>
    has('Assign', 'PublishComposite', 'StartRollout')
      ? locks.share(ASSIGNMENTS, () => work([...held, ASSIGNMENTS]))
      : work(held);
  if (has('EnableScopeType', 'DisableScopeType'))
    return locks.run(PARAMETER_WRITES, () => assigning([PARAMETER_WRITES]));
  if (has('PublishParameters', 'WithdrawParameters', 'RestoreParameters', 'StartRollout'))
    return locks.share(PARAMETER_WRITES, () => assigning([PARAMETER_WRITES]));
  return assigning([]);
}

/** The single deeds, which read and write by the tools of the step. */
class Deeds {
  private readonly tools: CarryingOutTools;
  private readonly caller: Caller;
  private readonly former: FormerState;
  private readonly keep: (write: Write) => void;
  private readonly parameters: ParameterReader;
  private readonly schemas: SchemaReader;
  private readonly composites: CompositeReader;
  /** Who may sign versions, by the ids of the configurations for which deeds before have said it. */
  private readonly signing = new Map<string, Signing>();
  /** For deeds on nodes that follow each other, as making one takes long. */
  private planner: Planner | null = null;

  constructor(
    tools: CarryingOutTools,
    { caller, former, keep }: { caller: Caller; former: FormerState; keep: (write: Write) => void },
  ) {
    this.tools = tools;
    this.caller = caller;
    this.former = former;
    this.keep = keep;
    const { store, documents, entryPoints } = tools;
    this.parameters = new ParameterReader(store, tools);
    this.composites = new CompositeReader(store);
    this.schemas = new SchemaReader(store, { parameters: this.parameters, documents, entryPoints });
  }

  async carryOut(change: Change, target: Targeted): Promise<void> {
    if (!('nodeIds' in change)) this.planner = null;
    const { keep, tools } = this;
    const { actor } = this.caller;
    switch (change.kind) {
      case 'PublishConfiguration':
        await publishVersion(this.versionTools(), this.targeted('configurations', target), change.version);
        return;
      case 'PublishComposite':
        return publishComposite(this.versionTools(), this.targeted('composites', target), change.version);
      case 'PublishParameters':
        await publishFile(this.fileTools(), this.targeted('parameters', target), fileOf(change));
        return;
      case 'WithdrawParameters':
        return withdrawFile(this.fileTools(), this.targeted('parameters', target), fileOf(change), {
          reason: tidyText(change.reason ?? '') ?? '',
          needed: levelOf(change, this.former),
        });
      case 'RestoreParameters':
        return offerFileAgain(this.fileTools(), this.targeted('parameters', target), fileOf(change));
      case 'Withdraw':
        await withdrawVersion(
          tools,
          this.targeted(target?.on === 'composite' ? 'composites' : 'configurations', target),
          change.version,
          tidyText(change.reason ?? '') ?? '',
        );
        return;
      case 'Restore':
        return offerVersionAgain(
          this.versionTools(),
          this.targeted(target?.on === 'composite' ? 'composites' : 'configurations', target),
          change.version,
        );
      case 'SetServerManaged':
        return changeConfiguration(this.versionTools(), this.targeted('configurations', target), {
          useServerManagedParameters: change.useServerManagedParameters,
        });
      case 'ReorderScopeTypes':
        keep((trx) => reorderScopeTypes(trx, actor, change.scopeTypeIds));
        return;
      case 'EnableScopeType':
      case 'DisableScopeType':
        await switchScopeType(tools, actor, change.scopeTypeId, change.kind === 'EnableScopeType');
        return;
      case 'SetProtection': {
        const thing = await requireProtectable(tools.database.read, change);
        keep((trx) => setProtection(trx, actor, thing, change.protection));
        return;
      }
      case 'SetSettings': {
        const { resource } = this.targeted('configurations', target);
        if (change.signing) this.signing.set(resource.id, change.signing);
        const { signing, variables } = change;
        const index = await tools.store.versions({ kind: 'configurations', name: resource.name });
        const wanted = {
          ...(signing && { signing, admitted: tagsOf(index) }),
          ...(variables && { variables }),
        };
        const action = 'configuration.settings_changed';
        keep((trx) => changeOwnSettings(trx, actor, resource, { action, change: wanted }));
        return;
      }
      case 'StartRollout': {
        const { version, parameters, message, steps, onHalt } = change;
        await startRollout(
          { ...this.versionTools(), ...this.fileTools() },
          this.targeted(target?.on === 'composite' ? 'composites' : 'configurations', target),
          {
            ...{ steps, onHalt },
            ...{ version: version ?? undefined, parameters: parameters ?? undefined },
            message: message ?? undefined,
          },
        );
        return;
      }
      case 'SetParameters':
        throw internal('internal_error', 'Content is kept as a draft before it is carried out');
      default:
        return this.changeNodes(change);
    }
  }

  private async changeNodes(change: NodeChange): Promise<void> {
    const { nodeIds } = change;
    const tools = this.assignmentTools();
    await requireNodes(tools.database.read, nodeIds);
    const { apply, require } = await this.readyFor(tools, change);
    await require?.(nodeIds);
    this.keep(async (trx) => {
      const pace = new Pace();
      for (let left = nodeIds; left.length > 0; ) {
        const outcomes = await apply(trx, left, endOfSlice());
        for (const outcome of outcomes) orThrow(outcome);
        left = left.slice(outcomes.length);
        if (pace.isDue) await pace.rest();
      }
    });
  }

  /** As in bulk, but for a tag that is there already, and one that is not: alone they are refused too. */
  private async readyFor(tools: AssignmentTools, change: NodeChange): Promise<ReadyDeed> {
    const { principal, actor } = this.caller;
    if (change.kind === 'Tag') {
      const { nodeIds, scopeValueId } = change;
      const gate = await TagGate.of(tools, principal, { scopeValueIds: [scopeValueId], nodeIds });
      return {
        apply: inGroups(async (trx, some) => {
          const outcomes = await tagAll(trx, actor, { nodeIds: some, scopeValueId }, gate);
          return outcomes.map((outcome) => (outcome === false ? alreadyTagged() : outcome));
        }),
      };
    }
    if (change.kind === 'Assign') {
      const mayBeIneligible = this.former.wasAssigned(change);
      const checked = await checkAssignment(tools, principal, change, { mayBeIneligible });
      await requireForAll(tools.database.read, checked, change.nodeIds);
      return { apply: inGroups((trx, some) => assignToAll(trx, actor, some, checked)) };
    }
    if (change.kind === 'Untag') {
      const { scopeValueId } = change;
      return {
        apply: oneByOne(async (trx, nodeId) => {
          await untagNode(trx, actor, { nodeId, scopeValueId });
          return true;
        }),
      };
    }
    const { kind: action, nodeIds: _nodeIds, ...order } = change;
    return readyDeed(tools, this.caller, { action, ...order } as Doing);
  }

  private targeted<K extends RepositoryKind>(kind: K, target: Targeted): Target<K> {
    if (target === null) throw internal('internal_error', 'The deed is done to no repository');
    return { ...this.caller, kind, resource: target.resource };
  }

  private versionTools() {
    const { composites, schemas, parameters } = this;
    const { database, documents } = this.tools;
    const compatibility = new CompatibilityGuard(schemas, { database, parameters, documents, composites });
    return { ...this.tools, composites, schemas, compatibility, signing: this.signing };
  }

  private fileTools(): ParameterTools {
    return { ...this.tools, parameters: this.parameters, schemas: this.schemas };
  }

  private assignmentTools(): AssignmentTools {
    const { composites, parameters, schemas, tools } = this;
    const openness = { of: () => OPEN_TO_ANYONE };
    this.planner ??= new Planner(registryOf(tools.database), tools.store, {
      composites,
      parameters,
      schemas,
      openness,
    });
    return { ...tools, planner: this.planner };
  }
}

function fileOf({ scopeTypeName, scopeValue, version }: NamedFile & { version: string }): FileName {
  return { type: { name: scopeTypeName }, scopeValue, version };
}
