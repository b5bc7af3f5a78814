/** Large files and patches that a user asks for and does not read. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { requestHead } from '../../../test/support/attacks/requests.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import { ENTRY_POINT, type Files, type Site } from './site.ts';

const MEBIBYTE = 1024 * 1024;
const ANSWERS = 40;
const HOLD = 8 * SECOND;
const PATH = '/api/v1/configurations/large';

export const UNREAD_FILES: Attack = {
  name: 'unread-files',
  label: 'a file of 11 MiB, 40 times unread',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    await site.publish('large', filesOf(site));
    return () => leaveUnread(site, `${PATH}/versions/1.0.0/files/large.bin`, 'Accept: */*');
  },
};

export const UNREAD_PATCHES: Attack = {
  name: 'unread-patches',
  label: 'a patch of a file of 11 MiB, 40 times unread',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    await site.publish('large', filesOf(site));
    await site.revise('large', '1.1.0', filesOf(site));
    return () => leaveUnread(site, `${PATH}/compare?to=1.1.0`, 'Accept: text/x-diff');
  },
};

function filesOf(site: Site): Files {
  // Random bytes cannot be compressed.
  return {
    [ENTRY_POINT]: '$schema: x\nresources: []\n',
    'large.bin': randomBytes(site.amount(11, 4) * MEBIBYTE),
  };
}

async function leaveUnread(site: Site, path: string, accept: string): Promise<void> {
  for (let at = 0; at < ANSWERS; at += 1) {
    const connection = await site.raw({ reads: false });
    await connection?.send(requestHead('GET', path, accept, site.authorLine));
  }
  await sleep(HOLD);
}
