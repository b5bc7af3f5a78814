/** What becomes of a refused registration: a line in the log and an entry in the audit trail, with the reason. */

import type { Database } from '../../db/open.ts';
import { MINUTE } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { sourceOf } from '../../lib/source-address.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { countAttempt } from '../auth/queries.ts';

/** Entries per address (IPv6: /64) and minute: a flood of refusals must not fill the disk. */
const MAX_ENTRIES_PER_WINDOW = 100;
const WINDOW = MINUTE;

/** Carries the reason for log and audit only; the answer is the same for all four. */
export class KeyRejected extends HawserError {
  readonly reason: string;

  constructor(reason: 'unknown' | 'revoked' | 'expired' | 'used up') {
    super('forbidden', 'registration_key_rejected', 'The registration key is not accepted');
    this.reason = `registration key ${reason}`;
  }
}

interface RefusalTools {
  database: Database;
  log: Log;
  onRegistration(refusal: string): void;
}

/** @param fqdn null when what was sent is no host name: then it may be anything, a key in the wrong field too */
export async function noteRefusal(
  { database, log, onRegistration }: RefusalTools,
  actor: Actor,
  fqdn: string | null,
  error: HawserError,
): Promise<void> {
  const { address, requestId } = actor;
  const reason = error instanceof KeyRejected ? error.reason : reasonOf(error);
  log.warn({ requestId, fqdn, address, reason }, 'registration refused');
  onRegistration(reason);
  const source = `registration ${sourceOf(address ?? '')}`;
  await database.write.transaction().execute(async (trx) => {
    const { attempts } = await countAttempt(trx, source, actor.at, WINDOW);
    if (attempts > MAX_ENTRIES_PER_WINDOW) return;
    const last = attempts === MAX_ENTRIES_PER_WINDOW ? { furtherNotRecorded: true } : {};
    const details = { fqdn, reason, ...last };
    await recordAudit(trx, actor, { action: 'node.registration_refused', resourceId: null, details });
  });
}

/** The code of the one field at fault says more than that there is a fault. */
function reasonOf({ code, data }: HawserError): string {
  const [fault] = (data['errors'] as { code: string }[] | undefined) ?? [];
  return fault?.code ?? code;
}
