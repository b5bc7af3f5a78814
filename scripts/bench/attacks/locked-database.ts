/** This process holds the write lock of the server's database. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { SECOND } from '../../../src/lib/clock.ts';
import { type Attack, ONE_REQUEST } from './attack.ts';

export const LOCKED_DATABASE: Attack = {
  name: 'locked-database',
  label: 'the database locked by another process for 8 s',
  waitLimit: ONE_REQUEST,
  timed: { what: 'a write meanwhile', limit: 6 * SECOND },
  async prepare(site) {
    const { nodeId, identity } = await site.nodeWith('writer.example.org', 'attacked');
    const node = site.caller({ identity });
    return async () => {
      const database = new Sqlite(join(site.folder, 'data/hawser.db'));
      database.exec('BEGIN IMMEDIATE');
      const path = `/api/v1/nodes/${nodeId}/lcm-status`;
      const written = node.ask({ method: 'PUT', path, body: { json: { lcmStatus: 'Testing' } } });
      await sleep(site.amount(8, 4) * SECOND);
      database.exec('ROLLBACK');
      database.close();
      site.took((await written).milliseconds);
    };
  },
};
