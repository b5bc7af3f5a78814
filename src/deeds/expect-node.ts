/**
 * Makes a node before its machine is there. Like a node that came from another server it awaits its certificate, and nothing at
 * all is known of that: the first one that registers with this name and a good key becomes the node's.
 */

import type { Db } from '../db/database.ts';
import { findNodeByFqdn, insertNode } from '../db/nodes.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import { normalizeHostName } from '../domain/names.ts';
import { conflict, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { AssignmentTools } from './assign.ts';
import { changeLcmConfig, type LcmSettings } from './change-lcm-config.ts';
import { assignIfNone, checkExpected, type GivenNode, tagIfNone, type WantedNode } from './given-nodes.ts';
import { faultOfName } from './register-node.ts';
import { NO_GATE } from './tag-gate.ts';

export interface ExpectedNode extends WantedNode {
  /** As it was given. */
  fqdn: string;
  /** What its LCM is to do; null leaves that to the defaults. */
  lcmConfig: LcmSettings | null;
}

/**
 * @returns the node's id
 * @throws HawserError invalid for a name that is none; conflict `node_exists`; what `checkExpected` throws
 */
export async function expectNode(
  tools: AssignmentTools,
  { principal, actor }: Caller,
  wanted: ExpectedNode,
): Promise<string> {
  const fqdn = requireName(wanted.fqdn);
  const work = async () => {
    const given = await checkExpected(tools, principal, wanted);
    return tools.database.write.transaction().execute(async (trx) => {
      if ((await findNodeByFqdn(trx, fqdn)) !== undefined) throw nodeExists();
      return storeExpected(trx, actor, { fqdn, given, lcmConfig: wanted.lcmConfig });
    });
  };
  return wanted.assignment === null ? work() : tools.locks.share(ASSIGNMENTS, work);
}

/** The name as nodes have it. @throws HawserError invalid */
export function requireName(text: string): string {
  const fqdn = normalizeHostName(text);
  if (fqdn === null) throw invalidField('/fqdn', faultOfName(text), 'invalid_host_name');
  return fqdn;
}

export const nodeExists = () => conflict('node_exists', 'A node of this name is there already, or expected');

/** @returns the node's id @throws HawserError not_found for what has been deleted since it was checked */
export async function storeExpected(
  trx: Db,
  actor: Actor,
  { fqdn, given, lcmConfig }: { fqdn: string; given: GivenNode; lcmConfig: LcmSettings | null },
): Promise<string> {
  const nodeId = newId();
  await insertNode(trx, { id: nodeId, fqdn, now: actor.at, settings: { is_awaiting: 1 } });
  await recordAudit(trx, actor, { action: 'node.expected', resourceId: nodeId, details: { fqdn } });
  await given.gate?.requireAll(trx);
  if (given.assignment !== null) await assignIfNone(trx, actor, nodeId, given.assignment);
  await tagIfNone(trx, actor, nodeId, given.values, NO_GATE);
  if (lcmConfig !== null) await changeLcmConfig(trx, actor, nodeId, lcmConfig);
  return nodeId;
}
