/**
 * What a node becomes when it registers. All that reads repositories is done before the transaction that registers it, and
 * while no cleanup deletes the version that it is to be assigned.
 */

import type { Db } from '../db/database.ts';
import { readStoredRules } from '../db/joining-rules.ts';
import { type KeyProfile, profileOf, type RegistrationKeyRow } from '../db/registration-keys.ts';
import { findTypeOfValue } from '../db/scope-types.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { matchesName } from '../domain/name-patterns.ts';
import { isRefusal } from '../lib/errors.ts';
import type { Actor } from '../security/audit.ts';
import { rightsOfUser } from '../security/user-rights.ts';
import { findRow } from '../versions/rows.ts';
import { type AssignmentTools, assignmentByName, type CheckedAssignment } from './assign.ts';
import { assignIfNone, checkGiven, type GivenNode, NOTHING_GIVEN, tagIfNone } from './given-nodes.ts';
import { JoiningRules } from './joining-rules.ts';
import { NO_GATE, TagGate } from './tag-gate.ts';

/** What one node gets, in so far as it has not got it yet. */
export interface JoiningPlan {
  /** What the key gives. */
  profile: GivenNode;
  /** The gate for the tags of the key, for the rights of who made it. */
  gate: Pick<TagGate, 'require'>;
  /** What the rules give, of which the profile goes before all. */
  rules: GivenNode;
}

/** Who registers, and by which key. */
export interface Joiner {
  key: RegistrationKeyRow;
  fqdn: string;
  /** The id of the node of this name, if there is one. */
  knownId: string | null;
}

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
  const profile = profileOf(joiner.key);
  const { rules } = await readStoredRules(tools.database.read);
  const matching = rules.filter(({ fqdnPattern }) => matchesName(fqdnPattern, joiner.fqdn));
  const assigns = [profile, ...matching].some((each) => (each?.assignment ?? null) !== null);
  const run = async () => {
    const given = await (await JoiningRules.of(tools, matching)).forName(joiner.fqdn);
    return work({ ...(await planProfile(tools, joiner, profile, given)), rules: given });
  };
  return assigns ? tools.locks.share(ASSIGNMENTS, run) : run();
}

/** @param rules what the rules give the node beside it */
async function planProfile(
  tools: AssignmentTools,
  { key, knownId }: Joiner,
  profile: KeyProfile | null,
  rules: GivenNode,
): Promise<Pick<JoiningPlan, 'profile' | 'gate'>> {
  const givesNothing =
    profile === null || (profile.assignment === null && profile.scopeValueIds.length === 0);
  // A pattern alone needs nobody's rights.
  if (givesNothing) return { profile: NOTHING_GIVEN, gate: NO_GATE };
  const maker = key.made_by === null ? null : await rightsOfUser(tools.database.read, key.made_by);
  if (maker === null) throw new ProfileFault('Who made the key is gone or inactive');
  const { assignment, scopeValueIds } = profile;
  return orFault(async () => {
    const wanted = assignment && assignmentByName(assignment);
    const given = await checkGiven(tools, maker, { assignment: wanted, scopeValueIds });
    const { owner } = given.assignment ?? {};
    if (assignment && owner?.resource.id !== (assignment.configurationId ?? assignment.compositeId))
      throw new ProfileFault(`${assignment.configurationName} is another one than when the key was made`);
    const nodeIds = knownId === null ? [] : [knownId];
    const { assignment: about = null } = given.assignment ?? rules.assignment ?? {};
    const gate = await TagGate.of(tools, maker, { scopeValueIds, nodeIds, assignment: about });
    return { profile: given, gate };
  });
}

/** Gives a node what the plan says and it has not got. @throws ProfileFault */
export async function applyPlan(
  trx: Db,
  actor: Actor,
  nodeId: string,
  { profile, gate, rules }: JoiningPlan,
): Promise<void> {
  let isAssigned = false;
  await orFault(async () => {
    if (profile.assignment !== null) isAssigned = await assignIfNone(trx, actor, nodeId, profile.assignment);
    if (rules.assignment !== null) await assignRuled(trx, actor, nodeId, rules.assignment);
    await tagIfNone(trx, actor, nodeId, profile.values, gate);
  });
  const left = new Map<string, string>();
  for (const [type, id] of rules.values) if ((await findTypeOfValue(trx, id)) === type) left.set(type, id);
  await tagIfNone(trx, actor, nodeId, left, NO_GATE);
  // The tags of the rules may give the node more of what the key assigns than who made the key may read.
  if (isAssigned) await orFault(async () => profile.assignment?.files?.require(trx, { nodeIds: [nodeId] }));
}

/** What a rule names may have been deleted at this very moment, and then is left out. */
async function assignRuled(
  trx: Db,
  actor: Actor,
  nodeId: string,
  assignment: CheckedAssignment,
): Promise<void> {
  if ((await findRow(trx, assignment.owner.kind, assignment.owner.resource.id)) === undefined) return;
  await assignIfNone(trx, actor, nodeId, assignment);
}

/** What cannot be read is no fault of the key. */
async function orFault<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) throw new ProfileFault(error.message);
    throw error;
  }
}
