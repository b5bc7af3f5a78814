/** Pushes that take long to judge, objects that are too large, and fetches that stand still. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { requestHead } from '../../../test/support/attacks/requests.ts';
import { packWith, zeros } from '../../../test/support/hand-made-pack.ts';
import { PUSH_TYPE, PushWorkshop, pushBody, ZERO } from '../../../test/support/hand-made-push.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import type { Outcome, Request } from './caller.ts';
import { ENTRY_POINT, type Site } from './site.ts';

const NAME = 'pushed';
const REPOSITORY = `/git/configurations/${NAME}.git`;
const FILES = { [ENTRY_POINT]: '$schema: x\nresources: []\n' };
const COMMITS = 100;
const PUSHES = 3;
const FETCHES = 40;

export const SHARED_FOLDER: Attack = {
  name: 'push-shared-folder',
  label: 'a push of 100 commits over one folder of 19,000 files, and a freeze meanwhile',
  waitLimit: TEN_REQUESTS,
  timed: { what: 'a freeze', limit: SECOND },
  async prepare(site) {
    await site.publish(NAME, FILES);
    const other = await site.otherAuthor();
    const workshop = new PushWorkshop();
    const tip = workshop.history(COMMITS, site.amount(19_000, 4_000), ENTRY_POINT);
    const tag = workshop.tag(tip, '1.1.0');
    const body = bodyOf('refs/tags/v1.1.0', tag, workshop.pack(tag));
    workshop.remove();
    return async () => {
      const pushing = push(site, body);
      // By then it is being judged.
      await sleep(SECOND);
      const until = new Date(Date.now() + 60 * SECOND).toISOString();
      const json = { reason: 'an emergency', until };
      const path = '/api/v1/settings/freeze';
      site.took((await other.ask({ method: 'PUT', path, body: { json } })).milliseconds);
      await pushing;
    };
  },
};

export const LARGE_OBJECTS: Attack = {
  name: 'push-zeros',
  label: 'three pushes of a blob of 896 MiB of zeros each',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    await site.publish(NAME, FILES);
    const pack = packWith([zeros(site.amount(896, 320))]);
    const body = bodyOf('refs/heads/draft/1.1.0', 'a'.repeat(40), pack);
    return async () => void (await Promise.all(Array.from({ length: PUSHES }, () => push(site, body))));
  },
};

export const STALLED_FETCHES: Attack = {
  name: 'stalled-fetches',
  label: '40 fetches of one user whose requests never end',
  waitLimit: TEN_REQUESTS,
  timed: { what: "another user's fetch", limit: 2 * SECOND },
  async prepare(site) {
    await site.publish(NAME, FILES);
    const other = await site.otherAuthor();
    return async () => {
      for (let at = 0; at < FETCHES; at += 1) {
        const type = 'Content-Type: application/x-git-upload-pack-request';
        const lines = [type, 'Git-Protocol: version=2', 'Content-Length: 1000', site.authorLine];
        const connection = await site.raw({});
        await connection?.send(requestHead('POST', `${REPOSITORY}/git-upload-pack`, ...lines));
      }
      await sleep(SECOND);
      const path = `${REPOSITORY}/info/refs?service=git-upload-pack`;
      const { status, milliseconds } = await other.ask({ method: 'GET', path, leaveAfter: 10 * SECOND });
      site.took(status === 200 ? milliseconds : Number.POSITIVE_INFINITY);
    };
  },
};

const bodyOf = (ref: string, oid: string, pack: Buffer) => pushBody({ commands: [[ZERO, oid, ref]], pack });

function push(site: Site, bytes: Buffer): Promise<Outcome> {
  const request: Request = {
    ...{ method: 'POST', path: `${REPOSITORY}/git-receive-pack` },
    body: { bytes, type: PUSH_TYPE },
  };
  return site.author.ask(request);
}
