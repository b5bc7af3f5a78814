// everyday: SQLite
/** A push is judged without any lock: others go on meanwhile, and what they change is looked at again. */

import { expect } from 'chai';
import { HOUR } from '../../src/lib/clock.ts';
import { Threads } from '../../src/lib/threads.ts';
import { addVersion, publish } from '../support/configurations.ts';
import { save } from '../support/draft-files.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const MAIN = 'main.dsc.yaml';
const FREEZE = '/api/v1/settings/freeze';
const TAKEN = { code: 0 };

/** Holds up who looks at the folders of a push, until `letGo`. */
function holdJudging() {
  const { prototype } = Threads;
  const { run } = prototype;
  let [letGo, reached] = [() => {}, () => {}];
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const isHeld = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let times = 0;
  prototype.run = async function (this: Threads<never>, caller: string, task: string, ...rest: unknown[]) {
    if (task === 'lookAtTrees') {
      times += 1;
      reached();
      await gate;
    }
    return run.call(this, caller, task as never, ...(rest as [never]));
  } as typeof run;
  return {
    isHeld,
    letGo,
    /** How often folders were looked at. */
    times: () => times,
    stop() {
      letGo();
      prototype.run = run;
    },
  };
}

describe('while a push is judged', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let author: PushAuthor;

  beforeEach(async () => {
    const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    author = await beginAuthor(hawser, client, token);
    await author.commit({ [MAIN]: '$schema: x\nresources: []\n# pushed\n', 'folder/a.txt': 'a\n' });
  });

  const pushMeanwhile = async (
    options: readonly string[],
    version: string,
    meanwhile: () => Promise<void>,
  ) => {
    const judging = holdJudging();
    try {
      const pushing = author.push(...options, `HEAD:${DRAFT}/${version}`);
      await judging.isHeld;
      await meanwhile();
      judging.letGo();
      return { ...(await pushing), times: judging.times() };
    } finally {
      judging.stop();
    }
  };

  it('drafts of the same configuration are saved, and the push is judged once', async () => {
    const { name } = author;
    await ok(201, addVersion(hawser.admin, name, { version: '1.5.0' }));
    const pushed = await pushMeanwhile([], '1.1.0', async () => {
      await ok(201, save(hawser.admin, [name, '1.5.0', 'b.txt'], 'mine\n'));
    });
    // Its folders, and what is in them.
    expect(pushed, pushed.output).to.include({ ...TAKEN, times: 2 });
  });

  it('another version is published, and the push is judged again', async () => {
    const { name } = author;
    await ok(201, addVersion(hawser.admin, name, { version: '1.5.0' }));
    const pushed = await pushMeanwhile(['-o', 'publish'], '2.0.0', async () => {
      await ok(200, publish(hawser.admin, name, '1.5.0'));
    });
    expect(pushed, pushed.output).to.include(TAKEN);
    expect(pushed.times).to.equal(4);
  });

  it('a rule changes, and the push is judged by the new one', async () => {
    const pushed = await pushMeanwhile([], 'summer', async () => {
      const settings = `/api/v1/configurations/${author.name}/settings`;
      await ok(200, hawser.admin.put(settings, { requireSemVer: true }));
    });
    expect(pushed, pushed.output).to.include({ code: 1 });
    expect(pushed.output).to.include('Nothing was changed');
  });

  it('a freeze begins, which refuses a push that publishes and no draft', async () => {
    const until = new Date(hawser.clock.now() + HOUR).toISOString();
    const freeze = async () => {
      await ok(200, hawser.admin.put(FREEZE, { reason: 'Christmas sales', until }));
    };
    const published = await pushMeanwhile(['-o', 'publish'], '1.1.0', freeze);
    expect(published, published.output).to.include({ code: 1 });
    expect(published.output).to.include('(frozen)');
    await ok(204, hawser.admin.delete(FREEZE));
    const drafted = await pushMeanwhile([], '1.1.0', freeze);
    expect(drafted, drafted.output).to.include(TAKEN);
    await ok(204, hawser.admin.delete(FREEZE));
  });
});
