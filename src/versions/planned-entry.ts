/** What is known of an audit entry before its change is made. */

import type { AuditAction } from '../domain/audit-actions.ts';
import type { Actor } from '../security/audit.ts';

/** An entry of the audit trail whose commit may not be known yet. */
export interface PlannedEntry {
  actor: Actor;
  resourceId: string;
  action: AuditAction;
  details: Record<string, unknown>;
  /** The commit that the new one replaces, or null. Undefined if the details need no other commit. */
  replaces?: string | null | undefined;
}
