/** What a node runs, as the API shows it. */

import { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { EVIDENCE } from '../../db/node-tables.ts';
import { findRunning } from '../../db/running.ts';
import { Checksum, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';

export const RUNNING_EXAMPLE = {
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  configurationName: 'web-server',
  version: '1.2.0',
  evidence: 'Declared',
  since: '2026-11-20T09:08:00.000Z',
};

export const Running = z.object({
  checksum: Checksum.meta({
    description: 'The checksum of what the node runs, as its poll is answered with it',
  }),
  configurationName: z
    .string()
    .nullable()
    .meta({ description: 'Null where the server keeps no manifest of the checksum' }),
  version: z
    .string()
    .nullable()
    .meta({ description: 'Null where the server keeps no manifest of the checksum' }),
  evidence: z.enum(EVIDENCE).meta({
    description:
      'How the server knows: `Declared` by a report or by the `If-None-Match` of a poll, `Served` as a whole bundle, ' +
      '`Told` as the answer to a poll',
  }),
  since: Timestamp.meta({ description: 'When this evidence of this checksum came' }),
});

/** What a node runs, as far as the server knows; null where it knows nothing. */
export async function readRunning(db: Db, nodeId: string) {
  const row = await findRunning(db, nodeId);
  return row ? { ...row, since: toTimestamp(row.since ?? 0) } : null;
}
