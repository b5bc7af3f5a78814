// full: SQLite, PostgreSQL
/** Stock git clients push what a change set proposes. */

import { expect } from 'chai';
import { type FeedEvent, SETS, setOf } from '../support/change-sets.ts';
import { itOnSqlite } from '../support/engine.ts';
import { gitClient } from '../support/git-client.ts';
import { quarantinesOf } from '../support/hand-made-push.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { authorOfFiles, beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

/** Nodes that have no such parameter would get nothing by it. */
const REQUIRING = '$schema: x\nparameters:\n  fresh:\n    type: string\nresources: []\n';
const TWO = { 'main.dsc.yaml': '$schema: x\nresources: []\n# two\n' };

interface ProposedSet {
  id: number;
  digest: string;
  title: string;
  state: string;
  createdBy: string;
  deeds: FeedEvent['data'][];
}

describe('git push -o propose', function () {
  this.timeout(60_000);
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;
  before(async () => {
    token = await createToken(hawser.client(), hawser.session, [
      ...['configurations.admin-override', 'parameters.admin-override', 'nodes.read'],
    ]);
    const type = await createScopeType(hawser, 'Environment');
    for (const value of ['dev', 'prod']) await createScopeValue(hawser, type, value);
  });
  afterEach(() => expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]));

  const begin = () => beginAuthor(hawser, client, token, { 'main.dsc.yaml': '$schema: x\nresources: []\n' });
  const propose = (author: PushAuthor, title: string, ...refs: string[]) =>
    author.git('push', '-o', `propose=${title}`, 'origin', ...refs);
  const setsOf = ({ name }: PushAuthor): Promise<ProposedSet[]> =>
    ok(200, hawser.admin.get(`${SETS}?configuration=${name}`));
  const apply = async (set: ProposedSet) => {
    const { digest } = await ok(200, hawser.admin.get(setOf(set)));
    return ok(200, hawser.admin.post(`${setOf(set)}/apply`, { digest }));
  };
  const version = ({ api }: PushAuthor, name: string) => hawser.admin.get(`${api}/versions/${name}`);
  const remoteRefs = async (author: PushAuthor) => {
    const lines = (await author.ok('ls-remote', 'origin')).trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split('\t').toReversed()));
  };
  const tag = async (author: PushAuthor, name: string) => {
    await author.ok('tag', '-a', name, '-m', 'What is new');
    return (await author.ok('rev-parse', name)).trim();
  };

  it('makes the draft and one set, which publishes the commit that was pushed', async () => {
    const author = await begin();
    const commit = await author.commit(TWO);
    const { code, output } = await propose(author, 'Faster web', `HEAD:${DRAFT}/1.1.0`);
    expect(code, output).to.equal(0);
    const [set, ...others] = (await setsOf(author)) as [ProposedSet];
    expect(others).to.deep.equal([]);
    expect(set).to.include({ title: 'Faster web', state: 'Open', createdBy: 'admin' });
    expect(set.deeds).to.deep.equal([
      { kind: 'PublishConfiguration', configurationName: author.name, version: '1.1.0' },
    ]);
    expect(output).to.include(`remote: hawser: Change set ${set.id} proposes it: `);
    expect(output).to.match(new RegExp(`/change-sets/${set.id}\\b`));
    expect((await version(author, '1.1.0')).json).to.include({ status: 'Draft', commit });
    await apply(set);
    expect((await version(author, '1.1.0')).json).to.include({ status: 'Published', commit });
  });

  /** Looks that a tag which was proposed is placed as it is once its set is applied. */
  const placesTag = async (meanwhile: (author: PushAuthor) => void = () => undefined) => {
    const author = await begin();
    const commit = await author.commit(TWO);
    const object = await tag(author, 'v1.1.0');
    const { code, output } = await propose(author, 'A tag', 'v1.1.0');
    expect(code, output).to.equal(0);
    expect((await version(author, '1.1.0')).json).to.include({ status: 'Draft', commit });
    expect(await remoteRefs(author)).to.not.have.any.keys('refs/tags/v1.1.0');
    meanwhile(author);
    const [set] = (await setsOf(author)) as [ProposedSet];
    await apply(set);
    expect((await remoteRefs(author))['refs/tags/v1.1.0']).to.equal(object);
    const { json } = await version(author, '1.1.0');
    expect(json).to.include({ status: 'Published', commit, createdBy: 'admin', publishedBy: 'admin' });
    expect(json.message).to.equal('What is new');
  };

  it('keeps a tag, and places it as it is once its set is applied', () => placesTag());

  itOnSqlite('keeps a tag also where stock git throws away what no ref leads to', () =>
    placesTag(({ name }) => {
      hawser.git(`configurations/${name}.git`, 'gc', '--quiet', '--prune=now');
    }),
  );

  it('drops a tag whose draft was edited since, which is published by a tag of the server then', async () => {
    const author = await begin();
    await author.commit(TWO);
    const object = await tag(author, 'v1.1.0');
    expect((await propose(author, 'A tag', 'v1.1.0')).code).to.equal(0);
    const path = `${author.api}/versions/1.1.0/files/a.txt`;
    const headers = { 'Content-Type': 'text/plain' };
    await ok(201, hawser.admin.call('PUT', path, { body: 'other\n', headers }));
    const [set] = (await setsOf(author)) as [ProposedSet];
    await apply(set);
    const placed = (await remoteRefs(author))['refs/tags/v1.1.0'];
    expect(placed)
      .to.match(/^[0-9a-f]{40}$/)
      .and.not.equal(object);
  });

  it('proposes parameter files, drafts and tags, as one set', async () => {
    const name = 'app';
    await publishConfiguration(hawser.admin, name, { '1.0.0': TWO });
    const author = await authorOfFiles(client, name, token);
    await author.commit({
      'dev/parameters.yaml': 'parameters:\n  a: 1\n',
      'prod/parameters.yaml': 'parameters:\n  a: 2\n',
    });
    const object = await tag(author, 'Environment/prod/v1.0.0');
    const { code, output } = await propose(
      ...([author, 'Both'] as const),
      ...[`HEAD:${DRAFT}/Environment/dev/1.0.0`, 'Environment/prod/v1.0.0'],
    );
    expect(code, output).to.equal(0);
    const [set] = (await setsOf(author)) as [ProposedSet];
    expect(set.deeds.map(({ scopeValue }) => scopeValue)).to.have.members(['dev', 'prod']);
    await apply(set);
    const refs = await remoteRefs(author);
    expect(refs['refs/tags/Environment/prod/v1.0.0']).to.equal(object);
    expect(refs).to.have.any.keys('refs/tags/Environment/dev/v1.0.0');
    expect(await configurationId(hawser.admin, name)).to.match(/^[0-9a-f-]{36}$/);
  });

  it('refuses other options, and what could not be published, and leaves no draft and no set then', async () => {
    const author = await begin();
    await author.commit(TWO);
    const refused = async (code: string, ...args: string[]) => {
      const { code: exit, output } = await author.git('push', ...args);
      expect(exit, output).to.not.equal(0);
      expect(output).to.include(code);
    };
    const draft = `HEAD:${DRAFT}/1.1.0`;
    await refused('invalid_option', '-o', 'propose=', 'origin', draft);
    await refused('invalid_option', '-o', 'propose=a', '-o', 'publish', 'origin', draft);
    await refused('invalid_option', '-o', 'propose=a', '-o', 'propose=b', 'origin', draft);
    await refused('invalid_option', '-o', 'proposes=a', 'origin', draft);
    await author.commit({ 'main.dsc.yaml': REQUIRING });
    await refused('incompatible_parameters', '-o', 'propose=a', 'origin', draft);
    expect((await version(author, '1.1.0')).status).to.equal(404);
    const other = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    await author.ok('remote', 'set-url', 'origin', client.url(`configurations/${author.name}`, other));
    await author.commit(TWO);
    await refused('forbidden', '-o', 'propose=a', 'origin', draft);
    expect(await setsOf(author)).to.deep.equal([]);
  });
});
