/** The limits of time that each connection has are not for one transaction that copies everything. */

export const withoutTimeLimits =
  'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0';
