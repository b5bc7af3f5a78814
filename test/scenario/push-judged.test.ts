// full: SQLite
/** A push is judged without any lock: others go on meanwhile, and what they change is looked at again. */

import { expect } from 'chai';
import { NODE_SCOPE_TYPE_ID } from '../../src/domain/scopes.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { Threads } from '../../src/lib/threads.ts';
import { addVersion, publish } from '../support/configurations.ts';
import { save } from '../support/draft-files.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { authorOfFiles, beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { createScopeType } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const MAIN = 'main.dsc.yaml';
const FREEZE = '/api/v1/settings/freeze';
const TAKEN = { code: 0 };

/** Holds up who looks at the folders of a push first, until `letGo`. */
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
      if (times === 1) await gate;
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

/** Pushes, and does something else between the judging and the taking. */
async function pushedMeanwhile(author: PushAuthor, words: readonly string[], meanwhile: () => Promise<void>) {
  const judging = holdJudging();
  try {
    const pushing = author.push(...words);
    await judging.isHeld;
    await meanwhile();
    judging.letGo();
    return { ...(await pushing), times: judging.times() };
  } finally {
    judging.stop();
  }
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

  const pushMeanwhile = (options: readonly string[], version: string, meanwhile: () => Promise<void>) =>
    pushedMeanwhile(author, [...options, `HEAD:${DRAFT}/${version}`], meanwhile);

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

describe('while a push of parameter files is judged', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  const DEV = `HEAD:${DRAFT}/Ring/dev/1.0.0`;
  const PROD = `HEAD:${DRAFT}/Ring/prod/1.0.0`;
  const port = (value: number) => `parameters:\n  port: ${value}\n`;
  const files = (value: number) => ({
    'dev/parameters.yaml': port(value),
    'prod/parameters.yaml': port(value),
  });
  let token: string;
  let author: PushAuthor;
  let ring: string;
  let count = 0;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, [
      'configurations.admin-override',
      'parameters.admin-override',
    ]);
    ring = await createScopeType(hawser, 'Ring');
  });
  beforeEach(async () => {
    count += 1;
    const name = `files-${count}`;
    await publishConfiguration(hawser.admin, name, {
      '1.0.0': { [MAIN]: '$schema: x\nparameters: {port: {type: int}}\nresources: []\n' },
    });
    author = await authorOfFiles(client, name, token);
    await author.commit(files(1));
  });

  /** The scopes of all versions, with their states. */
  const listed = async (): Promise<string[]> => {
    const all = await ok(200, hawser.admin.get(`${author.api}/parameter-files?take=100`));
    return all
      .map(({ scopeValue, version, status }: Record<string, string>) => `${scopeValue} ${version} ${status}`)
      .sort();
  };

  it('a freeze begins, and nothing of what was to be published is there', async () => {
    const until = new Date(hawser.clock.now() + HOUR).toISOString();
    const refused = await pushedMeanwhile(author, ['-o', 'publish', DEV, PROD], async () => {
      await ok(200, hawser.admin.put(FREEZE, { reason: 'Christmas sales', until }));
    });
    expect(refused.code, refused.output).to.equal(1);
    expect(refused.output).to.include('frozen');
    expect(await listed()).to.deep.equal([]);
    expect((await author.push(DEV, PROD)).code).to.equal(0);
    await ok(204, hawser.admin.delete(FREEZE));
    expect(await listed()).to.deep.equal(['dev 1.0.0 Draft', 'prod 1.0.0 Draft']);
  });

  it('its scope type is switched off, and nothing is taken', async () => {
    const { fqdn } = await hawser.registerNode('off.example.org');
    await author.commit({ [`${fqdn}/parameters.yaml`]: port(1) });
    const type = `/api/v1/scope-types/${NODE_SCOPE_TYPE_ID}`;
    const refused = await pushedMeanwhile(author, [DEV, `HEAD:${DRAFT}/Node/${fqdn}/1.0.0`], async () => {
      await ok(200, hawser.admin.call('PATCH', `${type}/disable`));
    });
    await ok(200, hawser.admin.call('PATCH', `${type}/enable`));
    expect(refused.code, refused.output).to.equal(1);
    expect(refused.output).to.include('scope_type_disabled');
    expect(await listed()).to.deep.equal([]);
  });

  it('another clone pushes the same draft, and one of both is taken whole', async () => {
    const other = await authorOfFiles(client, author.name, token);
    await other.commit(files(2));
    let second: Awaited<ReturnType<PushAuthor['push']>> | undefined;
    const first = await pushedMeanwhile(author, [DEV, PROD], async () => {
      second = await other.push(DEV);
    });
    expect(second?.code, second?.output).to.equal(0);
    expect(first.code, first.output).to.equal(1);
    expect(first.output).to.include('draft_changed');
    expect(await listed()).to.deep.equal(['dev 1.0.0 Draft']);
    const { id } = await ok(200, hawser.admin.get(author.api));
    const path = `/api/v1/parameters/${ring}/${id}/versions/1.0.0?scopeValue=dev`;
    expect((await ok(200, hawser.admin.get(path))).content).to.equal(port(2));
  });

  it('of depth 1 a clone pushes what it has changed, and nothing else', async () => {
    expect((await author.push('-o', 'publish', DEV, PROD)).code).to.equal(0);
    const shallow = await clientClone(author.name);
    await shallow.commit({ 'prod/parameters.yaml': port(9) });
    const pushed = await shallow.push('-o', 'publish', `HEAD:${DRAFT}/Ring/prod/1.1.0`);
    expect(pushed.code, pushed.output).to.equal(0);
    expect(await listed()).to.deep.equal([
      'dev 1.0.0 Published',
      'prod 1.0.0 Published',
      'prod 1.1.0 Published',
    ]);
    expect(hawser.git(`parameters/${author.name}.git`, 'fsck', '--strict')).to.equal('');
  });

  async function clientClone(name: string): Promise<PushAuthor> {
    const shallow = await authorOfFiles(client, name, token);
    await shallow.ok('fetch', '-q', '--depth', '1', 'origin', 'Ring');
    await shallow.ok('checkout', '-q', '-b', 'Ring', 'FETCH_HEAD');
    expect((await shallow.ok('rev-list', '--count', 'HEAD')).trim()).to.equal('1');
    return shallow;
  }
});
