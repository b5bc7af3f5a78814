/** Limits of time for what may hold up others, and what lifts the limits that each connection has. */

import { SECOND } from '../../lib/clock.ts';

/**
 * PostgreSQL ends a transaction that writes, or a section, that says nothing for so many milliseconds, such as one of a
 * process that is frozen. Of its transactions one may have the turn of the feed and wait for another that has the turn of
 * the notes. So a frozen process holds up the others for twice as long at most, which is 5 s.
 */
export const LONGEST_SILENCE = 2.5 * SECOND;
/** Milliseconds between two signs of life of a section that has nothing else to say. */
export const SIGN_OF_LIFE = 0.5 * SECOND;
/** Milliseconds for which a transaction that writes waits for a lock: longer than anybody holds up the others. */
export const LONGEST_WAIT = 10 * SECOND;

/** The statements with which one transaction that copies everything lifts them. */
export const withoutTimeLimits =
  'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';
