/**
 * One thing done to many nodes, by the functions that do it to one. What concerns the deed as a whole is checked once,
 * before anything is done. The nodes are then changed in slices, and one that cannot be changed stops none of the others.
 */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { requireNode } from '../db/nodes.ts';
import { type GroupWork, inGroups, inSlices, type NodeWork, oneByOne } from '../db/slices.ts';
import type { Permission } from '../domain/permissions.ts';
import { conflict, HawserError } from '../lib/errors.ts';
import type { Caller } from '../security/caller.ts';
import {
  type AssignmentTools,
  assignToAll,
  checkAssignment,
  requireForAll,
  unassignConfiguration,
  whileItStays,
} from './assign.ts';
import { changeLcmConfigs, type LcmSettings } from './change-lcm-config.ts';
import { removeWithin } from './delete-node.ts';
import { type ExpectedRow, expectNodes } from './expect-nodes.ts';
import type { WantedAssignment } from './handing-out.ts';
import type { NodeOutcome } from './node-outcome.ts';
import { type AskedDeed, requireDoneAlone } from './protection.ts';
import { NO_GATE, TagGate } from './tag-gate.ts';
import { hasTag, requireTypeOfValue, setTags, tagAll, untagNode, valuesByType } from './tag-node.ts';

/** One thing that is done to nodes. */
export type Doing =
  | ({ action: 'Assign' } & WantedAssignment)
  | { action: 'Unassign' }
  | { action: 'Tag'; scopeValueId: string }
  | { action: 'Untag'; scopeValueId: string }
  | { action: 'SetTags'; scopeValueIds: readonly string[] }
  | ({ action: 'SetLcmConfig' } & LcmSettings)
  | { action: 'Delete' };

/** Nodes that are expected are made; all else is done to nodes that are there. */
export type BulkAction = Doing['action'] | 'Expect';

/** The nodes, by their ids or by conditions `C` of the node list, and how many the caller means. */
interface Targets<C> {
  nodeIds?: readonly string[] | undefined;
  filter?: C | null | undefined;
  expectedCount?: number | null | undefined;
}

export type BulkOrder<C> = Doing & Targets<C>;

/** What each action needs, as doing it to one node does. */
export const PERMISSION_OF = {
  Assign: 'nodes.assign-configuration',
  Unassign: 'nodes.assign-configuration',
  Tag: 'nodes.write',
  Untag: 'nodes.write',
  SetTags: 'nodes.write',
  SetLcmConfig: 'nodes.write',
  Delete: 'nodes.delete',
  Expect: 'nodes.write',
} as const satisfies Record<BulkAction, Permission>;

export interface BulkTools<C> extends AssignmentTools {
  /** The ids of all nodes that match, by fqdn. */
  matchingIds(conditions: C, caller: Caller): Promise<readonly string[]>;
}

/** A deed whose own checks are done. */
export interface ReadyDeed {
  /** Does it to nodes. What concerns one of them alone is its outcome. */
  apply: GroupWork<NodeOutcome>;
  /** Looks at all nodes before anything is done. @throws HawserError that concerns the deed as a whole */
  require?(nodeIds: readonly string[]): Promise<void>;
  /** Runs the work on all nodes. The default just runs it. */
  hold?<T>(work: () => Promise<T>): Promise<T>;
  /** Is told of each node that was changed, once that is committed. */
  onChanged?(nodeId: string): void;
}

interface Failure {
  /** Null for a node that was to be expected. */
  nodeId: string | null;
  /** Null where no node has the id. */
  fqdn: string | null;
  code: string;
  message: string;
}

export interface BulkOutcome {
  done: number;
  unchanged: number;
  failed: Failure[];
}

/**
 * Does to all nodes what is ordered. It goes on to the end, even if the client goes away meanwhile.
 * @throws HawserError what the single deed throws that concerns no node in particular; conflict `count_changed`, `change_set_required`.
 *   Nothing is done then. A fault of the database, such as a full disk, ends it as well; the nodes done before stay done
 */
export async function doInBulk<C>(
  tools: BulkTools<C>,
  caller: Caller,
  order: BulkOrder<C>,
): Promise<BulkOutcome> {
  const { apply, require, hold = (work) => work(), onChanged } = await readyDeed(tools, caller, order);
  const nodeIds = await findTargets(tools, caller, order);
  if (order.action !== 'Delete') {
    const { action: kind, nodeIds: _nodeIds, filter: _filter, expectedCount: _count, ...what } = order;
    await requireDoneAlone(tools, caller.actor, { kind, nodeIds, ...what } as AskedDeed);
  }
  await require?.(nodeIds);
  return hold(async () => {
    const outcomes = await inSlices(
      tools.database,
      nodeIds,
      apply,
      (nodeId, outcome) => outcome === true && onChanged?.(nodeId),
    );
    return {
      done: outcomes.filter((outcome) => outcome === true).length,
      unchanged: outcomes.filter((outcome) => outcome === false).length,
      failed: await failuresOf(tools.database.read, nodeIds, outcomes),
    };
  });
}

/** Makes nodes that are expected. It goes on to the end, even if the client goes away meanwhile. */
export async function expectInBulk(
  tools: AssignmentTools,
  caller: Caller,
  rows: readonly ExpectedRow[],
): Promise<BulkOutcome> {
  const outcomes = await expectNodes(tools, caller, rows);
  return {
    done: outcomes.filter((outcome) => outcome === true).length,
    unchanged: outcomes.filter((outcome) => outcome === false).length,
    failed: outcomes.flatMap((outcome, at) => {
      if (typeof outcome === 'boolean') return [];
      return { nodeId: null, fqdn: rows[at]?.fqdn ?? null, code: outcome.code, message: outcome.message };
    }),
  };
}

/** Checks what concerns the deed as a whole. @throws HawserError what the single deed throws that concerns no node */
export async function readyDeed(tools: AssignmentTools, caller: Caller, order: Doing): Promise<ReadyDeed> {
  const { actor } = caller;
  switch (order.action) {
    case 'Assign': {
      const checked = await checkAssignment(tools, caller.principal, order);
      return {
        require: (nodeIds) => requireForAll(tools.database.read, checked, nodeIds),
        apply: inGroups((trx, some) => assignToAll(trx, actor, some, checked)),
        hold: (work) => whileItStays(tools, checked, work),
      };
    }
    case 'Unassign':
      return readyUnassign(tools, caller);
    case 'Tag':
    case 'Untag':
      return readyTag(tools, caller, order);
    case 'SetTags':
      return readyTags(tools, caller, order);
    case 'SetLcmConfig':
      return { apply: inGroups((trx, some) => changeLcmConfigs(trx, actor, some, order)) };
    case 'Delete':
      return {
        apply: eachByItself((trx, nodeId, until) => removeWithin(trx, actor, nodeId, until)),
        onChanged: (nodeId) => tools.database.nodeLookup.noteEnded(nodeId, null),
      };
  }
}

function readyUnassign(tools: AssignmentTools, { principal, actor }: Caller): ReadyDeed {
  let gate: TagGate | null = null;
  return {
    async require(nodeIds) {
      gate = await TagGate.ofExpected(tools, principal, nodeIds);
    },
    apply: eachByItself(async (trx, nodeId) => {
      await gate?.requireLeft(trx, nodeId);
      return unassignConfiguration(trx, actor, nodeId);
    }),
  };
}

async function readyTag(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  { action, scopeValueId }: Extract<Doing, { scopeValueId: string }>,
): Promise<ReadyDeed> {
  await requireTypeOfValue(tools.database.read, scopeValueId);
  if (action === 'Untag')
    return {
      apply: eachByItself(async (trx, nodeId) => {
        await requireNode(trx, nodeId);
        if (!(await hasTag(trx, { nodeId, scopeValueId }))) return false;
        await untagNode(trx, actor, { nodeId, scopeValueId });
        return true;
      }),
    };
  let gate: Pick<TagGate, 'require'> = NO_GATE;
  return {
    async require(nodeIds) {
      gate = await TagGate.of(tools, principal, { scopeValueIds: [scopeValueId], nodeIds });
    },
    apply: inGroups((trx, some) => tagAll(trx, actor, { nodeIds: some, scopeValueId }, gate)),
  };
}

async function readyTags(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  { scopeValueIds }: Extract<Doing, { action: 'SetTags' }>,
): Promise<ReadyDeed> {
  const values = await valuesByType(tools.database.read, scopeValueIds);
  let gate: Pick<TagGate, 'require'> = NO_GATE;
  return {
    async require(nodeIds) {
      gate = await TagGate.of(tools, principal, { scopeValueIds, nodeIds });
    },
    apply: eachByItself((trx, nodeId) => setTags(trx, actor, nodeId, { values, areAll: false }, gate)),
  };
}

/** @throws HawserError conflict `count_changed` */
async function findTargets<C>(
  tools: BulkTools<C>,
  caller: Caller,
  { nodeIds, filter, expectedCount }: Targets<C>,
): Promise<readonly string[]> {
  const found = filter ? await tools.matchingIds(filter, caller) : [...new Set(nodeIds)];
  if (expectedCount === null || expectedCount === undefined || found.length === expectedCount) return found;
  const message = `${expectedCount} nodes were expected, and there are ${found.length}; nothing was done`;
  throw conflict('count_changed', message);
}

const OF_ONE_NODE: readonly string[] = ['not_found', 'conflict', 'forbidden'];

/** A deed that is done to each node by itself. A refusal that is about one node alone is its outcome. */
function eachByItself(work: NodeWork<boolean>): GroupWork<NodeOutcome> {
  return oneByOne<NodeOutcome>(async (trx, nodeId, until) => {
    try {
      return await work(trx, nodeId, until);
    } catch (error) {
      if (error instanceof HawserError && OF_ONE_NODE.includes(error.kind)) return error;
      throw error;
    }
  });
}

/** The refusals, with the names of those nodes that are there. */
async function failuresOf(
  db: Db,
  nodeIds: readonly string[],
  outcomes: readonly NodeOutcome[],
): Promise<Failure[]> {
  const refused = outcomes.flatMap((outcome, at) =>
    typeof outcome === 'object' ? [{ nodeId: nodeIds[at] ?? '', refusal: outcome }] : [],
  );
  const ids = refused.map(({ nodeId }) => nodeId);
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'fqdn'])
    .where(engineOf(db).isOneOf('id', ids))
    .execute();
  const names = new Map(rows.map(({ id, fqdn }) => [id, fqdn]));
  return refused.map(({ nodeId, refusal }) => {
    const { code, message } = refusal;
    return { nodeId, fqdn: names.get(nodeId) ?? null, code, message };
  });
}
