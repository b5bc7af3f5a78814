/** Who makes a change. */

import type { Actor } from './audit.ts';
import type { UserPrincipal } from './principal.ts';

/** The user whose rights limit the change, and the actor of its entry in the audit trail. */
export interface Caller {
  principal: UserPrincipal;
  actor: Actor;
  /** Compares `If-Match` once more; called under the lock of what is changed. Absent without that header. */
  requireCurrent?: () => Promise<void>;
}
