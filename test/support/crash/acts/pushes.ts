/** Acts of an author who pushes: a draft, a draft again, a version with its tag, and a draft that the server tags. */

import type { Reply } from '../../client.ts';
import { documentWith } from '../../documents.ts';
import { PUSH_TYPE, pushBody, readReport, sharedWorkshop, ZERO } from '../../hand-made-push.ts';
import { type Act, attempt, type Bench, sha256, UnexpectedAnswer } from './act.ts';
import { isRolling, pickConfiguration } from './configurations.ts';

const ENTRY_POINT = 'main.dsc.yaml';

export const pushDraft: Act = (bench) =>
  push(bench, 'push a draft', (commit, version) => ({
    status: 'Draft',
    tip: commit,
    commands: [[ZERO, commit, `refs/heads/draft/${version}`]],
  }));

export const pushTag: Act = (bench) =>
  push(bench, 'push a tag', (commit, version) => {
    const tag = sharedWorkshop().tag(commit, version);
    return { status: 'Published', tip: tag, commands: [[ZERO, tag, `refs/tags/v${version}`]] };
  });

export const pushToPublish: Act = (bench) =>
  push(bench, 'push a draft to publish it', (commit, version) => ({
    status: 'Published',
    tip: commit,
    commands: [[ZERO, commit, `refs/heads/draft/${version}`]],
    options: ['publish'],
  }));

interface Pushed {
  status: 'Draft' | 'Published';
  tip: string;
  commands: [from: string, to: string, name: string][];
  options?: string[];
}

async function push(
  bench: Bench,
  what: string,
  make: (commit: string, version: string) => Pushed,
): Promise<boolean> {
  const { client, model, random } = bench;
  const name = pickConfiguration(bench);
  // What rolls out may only be followed by a rollout.
  if (name === undefined || isRolling(bench, name)) return false;
  const version = `2.${model.next()}.0`;
  const content = documentWith(`${name} ${version} ${random.below(1e9)}`);
  const files = { [ENTRY_POINT]: content, 'lib/common.ps1': 'shared' };
  const { status, tip, commands, options } = make(
    sharedWorkshop().commit(files, `${name} ${version}`),
    version,
  );
  const body = pushBody({ commands, ...(options && { options }), pack: sharedWorkshop().pack(tip) });
  await attempt(bench, {
    what,
    after: {
      [`versions/${name}/${version}`]: {
        ...{ status, entryPoint: ENTRY_POINT, createdBy: 'admin', withdrawn: null },
        publishedBy: status === 'Published' ? 'admin' : null,
        files: Object.fromEntries(Object.entries(files).map(([path, text]) => [path, sha256(text)])),
      },
    },
    call: async () => {
      const headers = { 'Content-Type': PUSH_TYPE };
      return answered(
        what,
        await client.call('POST', `/git/configurations/${name}.git/git-receive-pack`, { headers, body }),
      );
    },
  });
  return true;
}

/** A refusal comes as 200. No other client can cause one here, but that the database is away. */
function answered(what: string, reply: Reply): Reply {
  if (reply.status !== 200) return reply;
  const { refs, lines } = readReport(reply.bytes);
  const refused = Object.values(refs).find((reason) => reason !== null);
  if (refused === undefined) return reply;
  const isAway = ['unavailable', 'shutting_down', 'overloaded', 'repository_locked'].includes(
    String(refused),
  );
  throw new UnexpectedAnswer(`${what}: ${lines.join(' | ')}`, isAway ? 503 : 200);
}
