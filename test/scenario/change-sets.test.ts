// everyday: SQLite; full: PostgreSQL
/** Change sets as they are proposed: made, read, edited, previewed and discarded, and what Git tells of them. */

import { join } from 'node:path';
import { expect } from 'chai';
import { propose, proposed, SETS, setOf } from '../support/change-sets.ts';
import type { Client } from '../support/client.ts';
import { MAIN, versionsOf } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { type GitClient, gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { preview, publishing, setting, type Wish } from '../support/previews.ts';
import { etagOf, expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const YAML = '$schema: x\nresources: []\n';

/** The types of all events about a subject, page after page. */
async function allEvents(client: Client, subject: string): Promise<string[]> {
  const types: string[] = [];
  for (let after = ''; ; ) {
    const page: { id: string; type: string; subject: string }[] = await ok(
      200,
      client.get(`/api/v1/events?wait=0${after}`),
    );
    const last = page.at(-1);
    if (last === undefined || after === `&after=${last.id}`) return types;
    types.push(...page.filter((event) => event.subject === subject).map(({ type }) => type));
    after = `&after=${last.id}`;
  }
}

describe('a change set', () => {
  const hawser = started(startHawser);
  let client: GitClient;
  let token: string;

  before(async () => {
    const { admin } = hawser;
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: YAML } });
    await publishConfiguration(admin, 'db', { '1.0.0': { [MAIN]: YAML } });
    const form = { fields: { version: '1.1.0' }, files: { [MAIN]: `# new\n${YAML}` } };
    for (const name of ['web', 'db']) await ok(201, admin.upload(versionsOf(name), form));
    client = gitClient(hawser);
    token = await createToken(hawser.client(), hawser.session, ['audit.read']);
  });
  after(() => client.close());

  const publish = [publishing('web', '1.1.0')];
  const filePath = async () =>
    `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
  const fileOf = async (version: string) => hawser.admin.get(`${await filePath()}/versions/${version}`);
  const clone = async (into: string) => {
    const cloned = await client.run('clone', '-q', '--mirror', client.url('changes', token), into);
    expect(cloned.code, cloned.output).to.equal(0);
    return async (...args: string[]) =>
      (await client.run('-C', join(client.folder, into), ...args)).output.trimEnd();
  };

  it('is proposed, read, previewed, edited and discarded, and changes no node', async () => {
    const { admin } = hawser;
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    const before = (await poll(node)).json.checksum;
    const made = await propose(admin, publish, { title: ' Faster web ', description: 'why' });
    const set = await ok(201, made);
    expect(made.headers['location']).to.equal(setOf(set));
    expect(set).to.include({ title: 'Faster web', description: 'why', state: 'Open', createdBy: 'admin' });
    expect(set.check).to.deep.equal({ canApply: true, blockers: [], findings: [] });
    expect(await ok(200, admin.get(setOf(set)))).to.deep.equal(set);
    const asked = await admin.post(`${setOf(set)}/preview`, {});
    expect(asked.status, asked.text).to.be.oneOf([201, 202]);
    const other = await preview(admin, publish);
    expect(other.counts.changed).to.equal(1);
    expect((await ok(200, admin.get(setOf(set)))).previewId).to.equal(asked.json.id);
    const body = {
      title: 'Slower web',
      deeds: [...publish, setting('web', '1.0.0', 'parameters: {a: 1}\n')],
    };
    const edited = await ok(200, admin.put(setOf(set), body));
    expect(edited.deeds.map((deed: Wish) => deed.kind)).to.deep.equal([
      'PublishConfiguration',
      'PublishParameters',
    ]);
    expect([edited.previewId, edited.description, edited.digest === set.digest]).to.deep.equal([
      null,
      null,
      false,
    ]);
    const [listed] = await ok(200, admin.get(`${SETS}?state=open&author=admin&configuration=web`));
    expect(listed).to.deep.equal({ ...edited, check: null });
    await ok(204, admin.delete(setOf(set)));
    expect((await ok(200, admin.get(setOf(set)))).state).to.equal('Discarded');
    expect((await fileOf('1.0.0')).json.status, 'drafts outlive the set').to.equal('Draft');
    for (const refused of [
      admin.put(setOf(set), body),
      admin.delete(setOf(set)),
      admin.post(`${setOf(set)}/preview`, {}),
    ])
      await expectProblem(refused, 409, 'not_possible');
    expect((await poll(node)).json.checksum).to.equal(before);
    // An event has its place in the feed a moment after its change.
    await eventually(async () => {
      const types = await allEvents(admin, `change-sets/${set.id}`);
      expect(types).to.deep.equal(['change_set.created', 'change_set.updated', 'change_set.discarded']);
    });
  });

  it('is told in Git by a branch with a commit of the person for each state, and no content', async () => {
    const { admin } = hawser;
    const secret = 'parameters: {a: whatever-it-is}\n';
    const set = await proposed(admin, [...publish, setting('web', '3.0.0', secret)], { title: 'Told' });
    await ok(204, admin.delete(setOf(set)));
    const git = await clone('told');
    await expectProblem(admin.post('/git/changes.git/git-receive-pack'), 403, 'push_not_supported');
    const branch = `change/${set.id}`;
    expect(await git('log', '--format=%an|%s', '-2', branch)).to.equal('admin|Told\nadmin|Told');
    expect(await git('rev-parse', branch)).to.equal((await ok(200, admin.get(setOf(set)))).tip);
    const { deeds, state } = JSON.parse(await git('show', `${branch}:change.json`));
    expect([state, deeds.length]).to.deep.equal(['Discarded', 2]);
    expect(await git('log', '--all', '-p'))
      .to.include('web')
      .and.not.include('whatever-it-is');
    expect(await git('ls-tree', 'main'), 'main begins with an empty commit').to.equal('');
    const blind = await createToken(hawser.client(), hawser.session, ['nodes.read']);
    expect((await client.run('ls-remote', client.url('changes', blind))).output).to.include('403');
    const pushed = await client.run(
      '-C',
      join(client.folder, 'told'),
      'push',
      client.url('changes', token),
      'main:x',
    );
    expect(pushed.output).to.include('403');
  });

  it('is refused as a preview is, with the first deed that could not be carried out, and leaves no draft', async () => {
    const { admin } = hawser;
    const own = setting('web', '2.0.0', 'parameters: {a: 1}\n');
    const errorsOf = async (deeds: Wish[], status: number, code: string) =>
      (await expectProblem(propose(admin, deeds), status, code)).json.errors?.map(
        ({ path }: { path: string }) => path,
      );
    expect(await errorsOf([own, publishing('web', '9.0.0')], 409, 'not_found')).to.deep.equal(['/deeds/1']);
    expect(await errorsOf([publishing('web', '1.0.0')], 409, 'already_published')).to.deep.equal([
      '/deeds/0',
    ]);
    await errorsOf([own, publishing('none', '1.0.0')], 404, 'not_found');
    const broken = await expectProblem(
      propose(admin, [own, { ...own, content: 'a: [1\n' }]),
      400,
      'validation_failed',
    );
    expect(broken.json.errors[0].path).to.equal('/deeds/1/content');
    expect((await fileOf('2.0.0')).status).to.equal(404);
    for (const title of ['', ' ', 'x'.repeat(201), 'two\nlines', 5])
      await expectInvalid(propose(admin, publish, { title }), '/title', String(title));
    await expectInvalid(propose(admin, []), '/deeds');
    await expectInvalid(propose(admin, [{ kind: 'StartEverything' }]), '/deeds/0/kind');
    await expectProblem(admin.get(`${SETS}/999`), 404, 'not_found');
    await expectProblem(admin.get(`${SETS}/x`), 404, 'not_found');
  });

  it('says what stands in its way, deed by deed', async () => {
    const { admin } = hawser;
    const form = { fields: { version: '5.0.0' }, files: { [MAIN]: YAML } };
    await ok(201, admin.upload(versionsOf('web'), form));
    const set = await proposed(admin, [...publish, publishing('web', '5.0.0'), publishing('db', '1.1.0')]);
    await ok(204, admin.delete(`${versionsOf('web')}/5.0.0`));
    const { check, digest } = await ok(200, admin.get(setOf(set)));
    expect(check.canApply).to.equal(false);
    expect(
      check.blockers.map(({ code, deed }: { code: string; deed: number }) => [code, deed]),
    ).to.deep.equal([['not_found', 1]]);
    expect(digest).to.not.equal(set.digest);
  });

  it('is refused to who has seen it as it was', async () => {
    const { admin } = hawser;
    const set = await proposed(admin, publish);
    const stale = { 'If-Match': await etagOf(admin, setOf(set)) };
    await ok(200, admin.with(stale).put(setOf(set), { title: 'other', deeds: publish }));
    await expectProblem(
      admin.with(stale).put(setOf(set), { title: 'x', deeds: publish }),
      412,
      'precondition_failed',
    );
    await expectProblem(admin.with(stale).delete(setOf(set)), 412, 'precondition_failed');
  });
});

describe('who may do what with a change set', () => {
  const hawser = started(startHawser);
  let reader: Person;
  let writer: Person;
  let stranger: Person;

  before(async () => {
    for (const name of ['web', 'db']) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: YAML } });
      const form = { fields: { version: '1.1.0' }, files: { [MAIN]: `# new\n${YAML}` } };
      await ok(201, hawser.admin.upload(versionsOf(name), form));
    }
    const permissions = ['nodes.read'] as const;
    const on = (level: 'Read' | 'Modify' | 'Manage') => [
      { on: 'configuration', name: 'web', level } as const,
    ];
    reader = await makeUser(hawser as Hawser, { username: 'reader', permissions, grants: on('Read') });
    writer = await makeUser(hawser as Hawser, { username: 'writer', permissions, grants: on('Modify') });
    stranger = await makeUser(hawser as Hawser, { username: 'stranger', permissions });
  });

  it('who may read what it names proposes, and who may write it proposes content', async () => {
    await proposed(reader, [publishing('web', '1.1.0')]);
    const content = [setting('web', '1.0.0', 'parameters: {a: 1}\n')];
    await expectProblem(propose(reader, content), 403, 'forbidden');
    await expectProblem(propose(stranger, content), 404, 'not_found');
    await expectProblem(propose(writer, [...content, publishing('db', '1.1.0')]), 404, 'not_found');
    await proposed(writer, content);
    await expectProblem(propose(hawser.admin, content), 409, 'draft_exists');
    await proposed(reader, [
      { kind: 'PublishParameters', configurationName: 'web', scopeTypeName: 'Default', version: '1.0.0' },
    ]);
  });

  it('shows the deeds that a reader may see, and counts the others', async () => {
    const set = await proposed(hawser.admin, [publishing('db', '1.1.0'), publishing('web', '1.1.0')]);
    const seen = await ok(200, reader.get(setOf(set)));
    expect(seen.deeds.map((deed: Wish) => deed['configurationName'])).to.deep.equal(['web']);
    expect([seen.hiddenDeeds, seen.digest]).to.deep.equal([1, set.digest]);
    await expectProblem(reader.post(`${setOf(set)}/preview`, {}), 404, 'not_found');
    for (const refused of [stranger.get(setOf(set)), stranger.delete(setOf(set))])
      await expectProblem(refused, 404, 'not_found');
    const idsFor = async (who: Person) => (await ok(200, who.get(SETS))).map(({ id }: { id: number }) => id);
    expect(await idsFor(reader)).to.include(set.id);
    expect(await idsFor(stranger)).to.deep.equal([]);
  });

  it('is edited and discarded by its author, and by who manages all that it names', async () => {
    const deeds = [publishing('web', '1.1.0')];
    const set = await proposed(reader, deeds);
    for (const refused of [writer.put(setOf(set), { title: 'x', deeds }), writer.delete(setOf(set))])
      await expectProblem(refused, 403, 'forbidden');
    await ok(200, hawser.admin.put(setOf(set), { title: 'helped', deeds }));
    expect((await ok(200, reader.get(`${SETS}?author=admin`)))[0].title).to.equal('helped');
    await ok(204, reader.delete(setOf(set)));
  });
});
