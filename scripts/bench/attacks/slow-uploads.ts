/** Slow uploads of one user, while another user uploads. */

import { SECOND } from '../../../src/lib/clock.ts';
import { chunkedHead, trickle } from '../../../test/support/attacks/requests.ts';
import { encodeForm } from '../../../test/support/client.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import { ENTRY_POINT, type Site, until } from './site.ts';

const UPLOADS = 4;
const BYTES = 1024 * 1024;
/** 2 KiB a second, twice the required speed of an upload. */
const PACE = { bytesAtOnce: 512, pause: SECOND / 4 };
const BOUNDARY = 'slow';

export const SLOW_UPLOADS: Attack = {
  name: 'slow-uploads',
  label: 'four slow uploads of one user',
  waitLimit: TEN_REQUESTS,
  timed: { what: "another user's upload", limit: 2 * SECOND },
  async prepare(site) {
    const other = await site.otherAuthor();
    return async () => {
      let isOver = false;
      const slow = Array.from({ length: UPLOADS }, (_, at) => uploadSlowly(site, `slow-${at}`, () => isOver));
      // By then each of them is being read or waits in the queue.
      await until(() => false, SECOND);
      const form = { fields: { name: 'other' }, files: { [ENTRY_POINT]: '$schema: x\nresources: []\n' } };
      const leaveAfter = site.amount(15, 8) * SECOND;
      const upload = { method: 'POST', path: '/api/v1/configurations', body: { form }, leaveAfter };
      site.took((await other.ask(upload)).milliseconds);
      isOver = true;
      await Promise.all(slow);
    };
  },
};

async function uploadSlowly(site: Site, name: string, isOver: () => boolean): Promise<void> {
  const form = { fields: { name }, files: { [ENTRY_POINT]: 'x'.repeat(BYTES) } };
  const connection = await site.raw({});
  if (connection === null) return;
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  await connection.send(chunkedHead('/api/v1/configurations', type, site.authorLine));
  await trickle(connection, encodeForm(form, BOUNDARY), { ...PACE, isOver });
  connection.close();
}
