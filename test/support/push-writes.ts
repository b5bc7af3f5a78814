/** Pushes as writes that can be repeated while something fails. */

import type { Client, Reply } from './client.ts';
import { create, versionsOf } from './configurations.ts';
import type { Write } from './fault-sweep.ts';
import { PUSH_TYPE, pushBody, readReport, sharedWorkshop, ZERO } from './hand-made-push.ts';
import { createToken, type Hawser } from './hawser.ts';
import { ok } from './replies.ts';

type Command = readonly [from: string, to: string, name: string];

export function pushWrites(hawser: Hawser): Write[] {
  return [
    pushOf(hawser, 'a push of a draft', 'pushed-draft', (commit, version) => [
      ZERO,
      commit,
      `refs/heads/draft/${version}`,
    ]),
    pushOf(hawser, 'a push of a version', 'pushed-version', (commit, version) => [
      ZERO,
      sharedWorkshop().tag(commit, version),
      `refs/tags/v${version}`,
    ]),
  ];
}

function pushOf(
  hawser: Hawser,
  what: string,
  name: string,
  commandFor: (commit: string, version: string) => Command,
): Write {
  let caller: Client;
  return {
    what,
    status: 200,
    async setUp() {
      await ok(201, create(hawser.admin, name));
      const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
      caller = hawser.client().with({ Authorization: `Bearer ${token}` });
    },
    send(n) {
      const commit = sharedWorkshop().commit(
        { 'main.dsc.yaml': `$schema: x\nresources: [] # ${n}\n` },
        `push ${n}`,
      );
      const command = commandFor(commit, `1.${n}.0`);
      const body = pushBody({ commands: [command], pack: sharedWorkshop().pack(command[1]) });
      const headers = { 'Content-Type': PUSH_TYPE };
      return caller.call('POST', `/git/configurations/${name}.git/git-receive-pack`, { headers, body });
    },
    refusal,
    shownAt: [versionsOf(name), `/api/v1/configurations/${name}`],
  };
}

/** The reason that a push was refused with; null if it was taken. */
export function refusal(reply: Reply): string | null {
  const { refs } = readReport(reply.bytes);
  return Object.values(refs).find((reason) => reason !== null) ?? null;
}
