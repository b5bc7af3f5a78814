/** Whether a node runs what it is offered, and if it does not, why. */

import type { Evidence } from '../db/node-tables.ts';

/** Why a node does not run what it is offered, in the order in which answers list them. */
export const PROOF_REASONS = [
  'NeverPolled',
  'NotPolledSince',
  'NotDownloaded',
  'NotReported',
  'RunsOther',
  'Unresolvable',
] as const;
export type ProofReason = (typeof PROOF_REASONS)[number];

/** What is known of a node's own calls. The checksum and the evidence are null together. */
export interface Known {
  checksum: string | null;
  evidence: Evidence | null;
  /** What its last poll was answered with; null where it has not polled. */
  answered: string | null;
}

/**
 * @param offered the checksum with which the node's next poll would be answered; null for an error or nothing
 * @returns null for a node that declares that it runs what it is offered
 */
export function proofReason(
  offered: string | null,
  { checksum, evidence, answered }: Known,
): ProofReason | null {
  if (offered === null) return 'Unresolvable';
  if (evidence === null) return 'NeverPolled';
  if (checksum === offered) return REASON_BY_EVIDENCE[evidence];
  return answered === offered ? 'RunsOther' : 'NotPolledSince';
}

const REASON_BY_EVIDENCE = { Declared: null, Served: 'NotReported', Told: 'NotDownloaded' } as const;
