/** Makes many nodes before their machines are there, each whole or not at all. */

import type { Db } from '../db/database.ts';
import { findAssigned, findNodeByFqdn } from '../db/nodes.ts';
import { findScopeTypeByName, findScopeValue, findTypeOfValue } from '../db/scope-types.ts';
import { inSlices, oneByOne } from '../db/slices.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { HawserError, isRefusal, notFound } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { Actor } from '../security/audit.ts';
import { isExpected } from '../security/awaiting-certificates.ts';
import type { Caller } from '../security/caller.ts';
import { findRow, noResource } from '../versions/rows.ts';
import type { AssignmentTools } from './assign.ts';
import { type LcmSettings, wouldChange } from './change-lcm-config.ts';
import { type ExpectedNode, nodeExists, requireName, storeExpected } from './expect-node.ts';
import { checkExpected, type GivenNode } from './given-nodes.ts';
import { listTags } from './tag-node.ts';

/** A scope value by its name and that of its type, in any case. */
export interface NamedTag {
  type: string;
  value: string;
}

/** A node as it is wanted, or why it is none. */
export type ExpectedRow = { fqdn: string | null; tags: readonly NamedTag[] } & (
  | { wanted: ExpectedNode; fault: null }
  | { wanted: null; fault: HawserError }
);

interface ReadyRow {
  fqdn: string;
  given: GivenNode;
  lcmConfig: LcmSettings | null;
}

/** What became of a row: whether a node was made, or why it was not. */
export type RowOutcome = boolean | HawserError;

/**
 * Makes the nodes, in slices between which polls go on. A node that is expected already, with just this, stays as it is.
 * @returns what became of each row
 * @throws HawserError for what concerns no row in particular, such as a full disk; the rows before stay done
 */
export async function expectNodes(
  tools: AssignmentTools,
  caller: Caller,
  rows: readonly ExpectedRow[],
): Promise<RowOutcome[]> {
  const work = async () => {
    const checker = new RowChecker(tools, caller);
    const pace = new Pace();
    const ready: (ReadyRow | HawserError)[] = [];
    for (const row of rows) {
      ready.push(row.fault ?? (await orFault(() => checker.check(row.wanted, row.tags))));
      if (pace.isDue) await pace.rest();
    }
    const storing = oneByOne((trx: Db, row: ReadyRow | HawserError) =>
      row instanceof HawserError ? Promise.resolve(row) : orFault(() => store(trx, caller.actor, row)),
    );
    return inSlices(tools.database, ready, storing);
  };
  const assigns = rows.some(({ wanted }) => (wanted?.assignment ?? null) !== null);
  return assigns ? tools.locks.share(ASSIGNMENTS, work) : work();
}

/** Checks rows. What several rows are given alike is checked once. */
class RowChecker {
  private readonly tools: AssignmentTools;
  private readonly caller: Caller;
  private readonly given = new Map<string, GivenNode | HawserError>();
  private readonly ids = new Map<string, string | HawserError>();

  constructor(tools: AssignmentTools, caller: Caller) {
    this.tools = tools;
    this.caller = caller;
  }

  /** @throws HawserError as making this node alone would */
  async check({ fqdn: name, assignment, lcmConfig, ...wanted }: ExpectedNode, tags: readonly NamedTag[]) {
    const fqdn = requireName(name);
    const scopeValueIds = [...wanted.scopeValueIds];
    for (const tag of tags) scopeValueIds.push(await this.idOf(tag));
    const key = JSON.stringify([assignment, scopeValueIds]);
    const check = () => checkExpected(this.tools, this.caller.principal, { assignment, scopeValueIds });
    return { fqdn, given: await once(this.given, key, check), lcmConfig };
  }

  private idOf({ type, value }: NamedTag): Promise<string> {
    const { read } = this.tools.database;
    return once(this.ids, `${type}=${value}`.toLowerCase(), async () => {
      const scopeType = await findScopeTypeByName(read, type);
      if (scopeType === undefined) throw notFound(`No scope type of the name ${type}`);
      const found = await findScopeValue(read, scopeType.id, value);
      if (found === undefined) throw notFound(`The scope type ${scopeType.name} has no value ${value}`);
      return found.id;
    });
  }
}

/** @throws HawserError the same each time */
async function once<T>(known: Map<string, T | HawserError>, key: string, work: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? (await orFault(work));
  known.set(key, found);
  if (found instanceof HawserError) throw found;
  return found;
}

async function orFault<T>(work: () => Promise<T>): Promise<T | HawserError> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

/**
 * All that may fail is asked before anything is written, because other rows share the transaction.
 * @returns whether the node was made
 */
async function store(trx: Db, actor: Actor, row: ReadyRow): Promise<boolean> {
  const known = await findNodeByFqdn(trx, row.fqdn);
  if (known !== undefined) {
    if (await isJustThis(trx, known.id, row)) return false;
    throw nodeExists();
  }
  const { assignment, values } = row.given;
  if (assignment !== null) {
    const { kind, resource } = assignment.owner;
    if ((await findRow(trx, kind, resource.id)) === undefined) throw noResource(kind);
  }
  for (const id of values.values())
    if ((await findTypeOfValue(trx, id)) === undefined) throw notFound('No such scope value');
  await storeExpected(trx, actor, row);
  return true;
}

/** Whether the node is expected, and has what the row says and nothing else. */
async function isJustThis(trx: Db, nodeId: string, { given, lcmConfig }: ReadyRow): Promise<boolean> {
  if (!(await isExpected(trx, nodeId))) return false;
  const { fqdn: _fqdn, configurationName, ...assigned } = (await findAssigned(trx, nodeId)) ?? NOT_THERE;
  const wanted = given.assignment?.assignment ?? null;
  const isAssigned = wanted === null ? configurationName === null : changedMembers(assigned, wanted) === null;
  const tags = await listTags(trx, nodeId);
  const isTagged =
    tags.length === given.values.size &&
    tags.every(({ scopeTypeId, scopeValueId }) => given.values.get(scopeTypeId) === scopeValueId);
  return isAssigned && isTagged && !(await wouldChange(trx, nodeId, lcmConfig ?? {}));
}

const NOT_THERE = {
  ...{ fqdn: '', configurationName: null, configurationId: null, compositeId: null },
  ...{ majorVersion: null, prereleaseChannel: null, version: null },
};
