/** Server-wide settings at their defaults (api.md section 13). */

/** A node is stale when it has not called for this many of its own intervals. */
export const STALENESS_MULTIPLIER = 2;
