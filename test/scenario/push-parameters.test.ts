// full: SQLite, PostgreSQL
/** Stock git clients push parameter files, many at once. */

import { expect } from 'chai';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { authorOfFiles, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const port = (number: number) => `parameters:\n  port: ${number}\n`;
const DRAFT = 'refs/heads/draft';

describe('git push of parameters', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;
  let type: string;
  let count = 0;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, [
      'configurations.admin-override',
      'parameters.admin-override',
    ]);
    type = await createScopeType(hawser, 'Environment');
    for (const value of ['dev', 'stage']) await createScopeValue(hawser, type, value);
  });
  afterEach(() => expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]));

  async function begin(): Promise<PushAuthor> {
    count += 1;
    await publishConfiguration(hawser.admin, `app-${count}`, {
      '1.0.0': {
        'main.dsc.yaml':
          '$schema: x\nparameters:\n  port:\n    type: int\n    defaultValue: 1\nresources: []\n',
      },
    });
    return authorOfFiles(client, `app-${count}`, token);
  }
  const pushed = async (author: PushAuthor, ...args: string[]) => {
    const { code, output } = await author.push(...args);
    expect(code, output).to.equal(0);
    return output;
  };
  const file = async ({ name }: PushAuthor, value: string | null, version: string, typeId = type) => {
    const path = `/api/v1/parameters/${typeId}/${await configurationId(hawser.admin, name)}/versions/${version}`;
    return (await hawser.admin.get(value === null ? path : `${path}?scopeValue=${value}`)).json;
  };
  const tag = (author: PushAuthor, name: string, message = name) =>
    author.ok('tag', '-a', name, '-m', message);

  it('publishes all drafts of a push at once with -o publish, and tells of each tag', async () => {
    const author = await begin();
    await author.commit({ 'dev/parameters.yaml': port(1), 'parameters.yaml': port(2) });
    const output = await pushed(
      author,
      '-o',
      'publish',
      `HEAD:${DRAFT}/Environment/dev/1.0.0`,
      `HEAD:${DRAFT}/Default/1.0.0`,
    );
    expect(output).to.include('Environment/dev/v1.0.0').and.include('Default/v1.0.0');
    expect(await file(author, 'dev', '1.0.0')).to.include({ status: 'Published', publishedBy: 'admin' });
    expect(await file(author, null, '1.0.0', DEFAULT_ID)).to.include({
      status: 'Published',
      createdBy: 'admin',
    });
    const refs = await author.ok('ls-remote', 'origin');
    expect(refs).to.not.include('draft/').and.not.include('refs/pushed');
  });

  it('replaces and deletes drafts in one push', async () => {
    const author = await begin();
    await author.commit({ 'dev/parameters.yaml': port(1), 'stage/parameters.yaml': port(2) });
    const [dev, stage] = [`${DRAFT}/Environment/dev/1.0.0`, `${DRAFT}/Environment/stage/1.0.0`];
    await pushed(author, `HEAD:${dev}`, `HEAD:${stage}`);
    await author.commit({ 'dev/parameters.yaml': port(3) });
    await pushed(author, `HEAD:${dev}`, `:${stage}`);
    expect(await file(author, 'dev', '1.0.0')).to.include({ content: port(3) });
    expect(await file(author, 'stage', '1.0.0')).to.include({ code: 'not_found' });
  });

  it('takes a passthrough, and makes a value of an unrestricted type on the way', async () => {
    const author = await begin();
    await author.ok('commit', '-q', '--allow-empty', '-m', 'skip\n\nPassthrough: true');
    await pushed(author, '-o', 'publish', `HEAD:${DRAFT}/Environment/new-one/1.0.0`);
    expect(await file(author, 'new-one', '1.0.0')).to.include({ status: 'Published', isPassthrough: true });
    const values = await ok(200, hawser.admin.get(`${SCOPE_TYPES}/${type}/values?take=100`));
    expect(JSON.stringify(values)).to.include('new-one');
  });

  it('refuses files of Git LFS', async () => {
    const author = await begin();
    const caller = hawser.client().with({ Authorization: `Bearer ${token}` });
    for (const path of ['objects/batch', 'locks/verify']) {
      const reply = await caller.post(`/git/parameters/${author.name}.git/info/lfs/${path}`, {});
      expect([reply.status, reply.json.code]).to.deep.equal([501, 'lfs_not_supported']);
    }
  });

  it('keeps who pushed when a scope gets another name', async () => {
    const author = await begin();
    await author.commit({ 'stage/parameters.yaml': port(1) });
    await tag(author, 'Environment/stage/v1.0.0');
    await pushed(author, 'Environment/stage/v1.0.0', `HEAD:${DRAFT}/Environment/stage/1.1.0`);
    const values: { id: string; value: string }[] = await ok(
      200,
      hawser.admin.get(`${SCOPE_TYPES}/${type}/values?take=100`),
    );
    const stage = values.find(({ value }) => value === 'stage')?.id;
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${type}/values/${stage}`, { value: 'staging' }));
    expect(await file(author, 'staging', '1.0.0')).to.include({ createdBy: 'admin', publishedBy: 'admin' });
    expect(await file(author, 'staging', '1.1.0')).to.include({ createdBy: 'admin' });
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${type}/values/${stage}`, { value: 'stage' }));
  });
});
