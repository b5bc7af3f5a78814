/**
 * What a node becomes when it registers. All that reads repositories is done before the transaction that registers it, and
 * while no cleanup deletes the version that it is to be assigned.
 */

import type { Db } from '../db/database.ts';
import { profileOf, type RegistrationKeyRow } from '../db/registration-keys.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { HawserError } from '../lib/errors.ts';
import type { Actor } from '../security/audit.ts';
import { rightsOfUser } from '../security/user-rights.ts';
import type { AssignmentTools, WantedAssignment } from './assign.ts';
import { assignIfNone, checkGiven, type GivenNode, tagIfNone } from './given-nodes.ts';
import { NO_GATE, TagGate } from './tag-gate.ts';

/** What one node gets, in so far as it has not got it yet. */
export interface JoiningPlan {
  /** What the key gives. */
  profile: GivenNode;
  /** The gate for the tags of the key, for the rights of who made it. */
  gate: Pick<TagGate, 'require'>;
}

/** Who registers, and by which key. */
export interface Joiner {
  key: RegistrationKeyRow;
  fqdn: string;
  /** The id of the node of this name, if there is one. */
  knownId: string | null;
}

const NOTHING: GivenNode = { assignment: null, values: new Map() };

/** A key cannot give what it was made to give. The message says why, for the log and the audit trail. */
export class ProfileFault extends Error {}

/**
 * Plans what the node becomes, and runs the work with the plan.
 * @throws ProfileFault; what `work` throws
 */
export async function whileJoining<T>(
  tools: AssignmentTools,
  joiner: Joiner,
  work: (plan: JoiningPlan) => Promise<T>,
): Promise<T> {
  const assigns = profileOf(joiner.key)?.assignment != null;
  const run = async () => work(await planJoining(tools, joiner));
  return assigns ? tools.locks.share(ASSIGNMENTS, run) : run();
}

async function planJoining(tools: AssignmentTools, { key, knownId }: Joiner): Promise<JoiningPlan> {
  const profile = profileOf(key);
  if (profile === null) return { profile: NOTHING, gate: NO_GATE };
  const maker = key.made_by === null ? null : await rightsOfUser(tools.database.read, key.made_by);
  if (maker === null) throw new ProfileFault('Who made the key is gone or inactive');
  const { assignment, scopeValueIds } = profile;
  return orFault(async () => {
    const wanted = assignment && toWanted(assignment);
    const given = await checkGiven(tools, maker, { assignment: wanted, scopeValueIds });
    const { owner } = given.assignment ?? {};
    if (assignment && owner?.resource.id !== (assignment.configurationId ?? assignment.compositeId))
      throw new ProfileFault(`${assignment.configurationName} is another one than when the key was made`);
    const nodeIds = knownId === null ? [] : [knownId];
    const about = given.assignment?.assignment ?? null;
    const gate = await TagGate.of(tools, maker, { scopeValueIds, nodeIds, assignment: about });
    return { profile: given, gate };
  });
}

/** Gives a node what the plan says and it has not got. @throws ProfileFault */
export async function applyPlan(
  trx: Db,
  actor: Actor,
  nodeId: string,
  { profile, gate }: JoiningPlan,
): Promise<void> {
  const { assignment, values } = profile;
  await orFault(async () => {
    if (assignment !== null) await assignIfNone(trx, actor, nodeId, assignment);
    await tagIfNone(trx, actor, nodeId, values, gate);
  });
}

const FAULTS: readonly string[] = ['not_found', 'conflict', 'forbidden', 'invalid'];

/** What cannot be read is no fault of the key. */
async function orFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HawserError && FAULTS.includes(error.kind)) throw new ProfileFault(error.message);
    throw error;
  }
}

function toWanted({
  compositeId,
  ...assignment
}: NonNullable<NonNullable<ReturnType<typeof profileOf>>['assignment']>): WantedAssignment {
  const { configurationName, majorVersion, prereleaseChannel, version } = assignment;
  return { configurationName, isComposite: compositeId !== null, majorVersion, prereleaseChannel, version };
}
