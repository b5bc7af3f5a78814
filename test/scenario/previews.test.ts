// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { storedBytes } from '../support/database.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import {
  askFor,
  groupOf,
  groupsOf,
  nodesOf,
  PREVIEWS,
  preview,
  publishing,
  setting,
  type Wish,
} from '../support/previews.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const DECLARING =
  '$schema: x\nparameters:\n  port: {type: int, defaultValue: 1}\n  key: {type: secureString, defaultValue: x}\nresources: []\n';
const SECRET = 'a-secret-that-nobody-sees';

const documented = (port: number, more = '') => `parameters:\n  port: ${port}\n${more}`;

describe('a preview', () => {
  const hawser = started(startHawser);
  let admin: Client;
  /** web-01 and web-02 have Default alone, web-03 the value prod; idle-01 has nothing. */
  let nodes: NodeUnderTest[];
  let prod: string;

  before(async () => {
    admin = hawser.admin;
    const names = ['web-01.example.org', 'web-02.example.org', 'web-03.example.org', 'idle-01.example.org'];
    nodes = await Promise.all(names.map((name) => hawser.registerNode(name)));
    await ok(
      201,
      create(admin, 'web', { version: '1.0.0' }, { files: { [MAIN]: DECLARING, 'a.txt': 'one\n' } }),
    );
    await ok(200, publish(admin, 'web', '1.0.0'));
    const files = { [MAIN]: DECLARING, 'a.txt': 'two\n', 'b.txt': 'new\n' };
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { files }));
    await publishConfiguration(admin, 'db', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    prod = await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'prod');
    await saveParameters(hawser, { configuration: 'web', content: documented(80) });
    const prodFile = { scopeType: 'Environment', value: 'prod', content: documented(443) };
    await saveParameters(hawser, { configuration: 'web', ...prodFile });
    await tagNode(hawser, at(2).nodeId, prod);
    for (const node of nodes.slice(0, 3)) await assign(hawser, node, 'web');
  });

  const at = (index: number) => nodes[index] as NodeUnderTest;
  const checksums = async () =>
    Promise.all(nodes.slice(0, 3).map(async (node) => (await poll(node)).json.checksum));
  const withNodes = (kind: string, indexes: number[], more: object = {}): Wish => ({
    ...{ kind, nodeIds: indexes.map((index) => at(index).nodeId) },
    ...more,
  });

  it('says which nodes a version changes, group by group and node by node', async () => {
    const before = await checksums();
    const made = await preview(admin, [publishing('web', '1.1.0')]);
    expect(made.counts).to.deep.equal({ nodes: 4, changed: 3, unchanged: 1, unresolvable: 0, notVisible: 0 });
    expect(made.groupCount).to.equal(2);
    expect(made.changes).to.deep.equal([
      { kind: 'PublishConfiguration', configurationName: 'web', version: '1.1.0' },
    ]);
    const [first, second] = await groupsOf(admin, made);
    expect(first).to.have.all.keys(
      ...['id', 'nodeCount', 'sampleNodes', 'change', 'before', 'after'],
      ...['files', 'parameterChanges', 'newProblems'],
    );
    expect(first).to.deep.include({ id: '1', nodeCount: 2, change: 'Changed', parameterChanges: 0 });
    expect(first.sampleNodes.map(({ fqdn }: NodeUnderTest) => fqdn)).to.deep.equal([at(0).fqdn, at(1).fqdn]);
    expect(first.before).to.deep.equal({ configurationName: 'web', version: '1.0.0', checksum: before[0] });
    expect(first.after).to.include({ configurationName: 'web', version: '1.1.0' });
    expect(first.files).to.deep.equal({ added: 1, removed: 0, modified: 1, renamed: 0 });
    expect(second).to.deep.include({ id: '2', nodeCount: 1 });
    expect(await nodesOf(admin, made)).to.deep.equal([
      { nodeId: at(3).nodeId, fqdn: at(3).fqdn, groupId: null, change: 'Unchanged' },
      ...nodes.slice(0, 3).map(({ nodeId, fqdn }, index) => ({
        ...{ nodeId, fqdn, groupId: index < 2 ? '1' : '2', change: 'Changed' },
      })),
    ]);
    expect(await checksums()).to.deep.equal(before);
  });

  it('is answered with its address, and as GET of that answers', async () => {
    const reply = await askFor(admin, [publishing('web', '1.1.0')]);
    expect(reply.status).to.equal(201);
    expect(reply.headers['location']).to.equal(`${PREVIEWS}/${reply.json.id}`);
    const got = await admin.get(`${PREVIEWS}/${reply.json.id}`);
    expect(got.json).to.deep.equal(reply.json);
    expect(got.headers['etag']).to.be.a('string');
    expect(Date.parse(got.json.expiresAt) - Date.parse(got.json.createdAt)).to.equal(3_600_000);
    expect(got.json).to.include({ state: 'Done', error: null });
    expect(Date.parse(got.json.completedAt)).to.be.at.least(Date.parse(got.json.createdAt));
  });

  it('tells of a group which files and parameters change, and where values come from', async () => {
    const made = await preview(admin, [
      publishing('web', '1.1.0'),
      setting('web', '1.1.0', documented(8080)),
    ]);
    const group = await groupOf(admin, made, '1');
    expect(
      group.fileChanges.map(({ path, change }: { path: string; change: string }) => `${change} ${path}`),
    ).to.deep.equal(['Modified a.txt', 'Added b.txt', 'Modified parameters.yaml']);
    expect(group.parameters).to.deep.equal([
      {
        ...{ path: '/parameters/port', before: 80, after: 8080 },
        beforeSource: { scopeTypeName: 'Default', scopeValue: null, version: '1.0.0' },
        afterSource: { scopeTypeName: 'Default', scopeValue: null, version: '1.1.0' },
      },
    ]);
    expect(group).to.deep.include({ code: null, message: null, mergedParameters: null });
    const file = (path: string) => admin.get(`${PREVIEWS}/${made.id}/groups/1/files/${path}`);
    const diff = await ok(200, file('parameters.yaml'));
    const lines = diff.hunks.flatMap(({ lines }: { lines: { kind: string; text: string }[] }) => lines);
    expect(
      lines
        .filter(({ kind }: { kind: string }) => kind === 'Added')
        .map(({ text }: { text: string }) => text),
    ).to.deep.equal(['  port: 8080']);
    expect((await ok(200, file('b.txt'))).change).to.equal('Added');
    expect((await ok(200, file(MAIN))).change).to.equal('Unchanged');
    await expectProblem(file('nothing.txt'), 404, 'not_found');
    await expectProblem(file('../main.dsc.yaml'), 404, 'not_found');
    await expectProblem(admin.get(`${PREVIEWS}/${made.id}/groups/3`), 404, 'not_found');
    await expectProblem(admin.get(`${PREVIEWS}/${made.id}/groups/0`), 404, 'not_found');
    await expectProblem(admin.get(`${PREVIEWS}/${made.id}/groups/one`), 404, 'not_found');
  });

  it('follows assignments and tags', async () => {
    const toDb = withNodes('Assign', [0, 3], { configurationName: 'db' });
    const untag = withNodes('Untag', [2], { scopeValueId: prod });
    const tag = withNodes('Tag', [1], { scopeValueId: prod });
    const made = await preview(admin, [toDb, untag, tag]);
    expect(made.counts).to.deep.equal({ nodes: 4, changed: 4, unchanged: 0, unresolvable: 0, notVisible: 0 });
    expect(made.changes[0]).to.deep.equal({
      ...{ kind: 'Assign', nodeIds: [at(0).nodeId, at(3).nodeId], configurationName: 'db' },
      ...{ isComposite: null, majorVersion: null, prereleaseChannel: null, version: null },
    });
    const groups = await groupsOf(admin, made);
    const idle = groups.find(({ before }: { before: unknown }) => before === null);
    expect(idle).to.deep.include({ nodeCount: 1, change: 'Changed' });
    expect(idle.after).to.include({ configurationName: 'db', version: '1.0.0' });
    const [one, two, three] = await checksums();
    const sides = groups.map(
      ({ before, after }: { before: { checksum: string }; after: { checksum: string } }) => [
        before?.checksum,
        after.checksum,
      ],
    );
    // The two with and without the value change places.
    expect(sides).to.deep.include([two, three]);
    expect(sides).to.deep.include([three, two]);
    expect(one).to.equal(two);
  });

  it('calls nodes Unresolvable that would get nothing any more', async () => {
    const made = await preview(admin, [withNodes('Unassign', [0, 1])]);
    expect(made.counts).to.include({ changed: 0, unresolvable: 2, unchanged: 2 });
    const [group] = await groupsOf(admin, made);
    expect(group).to.deep.include({ nodeCount: 2, change: 'Unresolvable', after: null, parameterChanges: 0 });
    expect(await groupOf(admin, made, '1')).to.deep.include({
      ...{ code: 'no_configuration_assigned', fileChanges: [], parameters: [] },
    });
  });

  it('takes composites, whose children lead the paths', async () => {
    await publishWithChildren(admin, 'farm', '1.0.0', ['web', 'db']);
    const toFarm = withNodes('Assign', [3], { configurationName: 'farm', isComposite: true });
    const made = await preview(admin, [toFarm, setting('web', '1.2.0', documented(81))]);
    const groups = await groupsOf(admin, made);
    const farm = groups.find(
      ({ after }: { after: { configurationName: string } }) => after.configurationName === 'farm',
    );
    const { parameters } = await groupOf(admin, made, farm.id);
    expect(parameters.map(({ path }: { path: string }) => path)).to.deep.equal(['/web/parameters/port']);
  });

  it('can be narrowed to some nodes, changed or not', async () => {
    const watched = [at(3).nodeId, at(0).nodeId, at(0).nodeId];
    const made = await preview(
      admin,
      [setting('web', '1.3.0', documented(82, `  key: ${SECRET}\n`))],
      watched,
    );
    expect(made.counts).to.deep.equal({ nodes: 2, changed: 1, unchanged: 1, unresolvable: 0, notVisible: 0 });
    expect(made.groupCount).to.equal(2);
    const listed = await nodesOf(admin, made);
    expect(listed.every(({ groupId }: { groupId: string | null }) => groupId !== null)).to.equal(true);
    const groups = await groupsOf(admin, made);
    expect(groups.map(({ change }: { change: string }) => change).sort()).to.deep.equal([
      'Changed',
      'Unchanged',
    ]);
    const changed = groups.find(({ change }: { change: string }) => change === 'Changed');
    const { mergedParameters } = await groupOf(admin, made, changed.id);
    expect(mergedParameters.before).to.include('port: 80').and.not.include('key');
    expect(mergedParameters.after).to.include('port: 82').and.include('<redacted>');
    const idle = groups.find(({ change }: { change: string }) => change === 'Unchanged');
    expect((await groupOf(admin, made, idle.id)).mergedParameters).to.deep.equal({
      before: null,
      after: null,
    });
  });

  it('shows proposed secrets to nobody, and keeps them nowhere', async () => {
    const made = await preview(admin, [setting('web', '1.3.0', documented(83, `  key: ${SECRET}\n`))]);
    expect(made.changes[0]).to.deep.include({
      kind: 'SetParameters',
      content: null,
      contentType: null,
      scopeValue: null,
    });
    const group = await admin.get(`${PREVIEWS}/${made.id}/groups/1`);
    const diff = await admin.get(`${PREVIEWS}/${made.id}/groups/1/files/parameters.yaml`);
    for (const { text } of [group, diff]) {
      expect(text).to.include('<redacted>');
      expect(text).to.not.include(SECRET);
    }
    expect(hawser.log()).to.not.include(SECRET);
    const stored = await storedBytes(hawser);
    expect(stored).to.not.have.property('size', 0);
    for (const [name, bytes] of stored) expect(bytes.includes(SECRET), name).to.equal(false);
  });

  it('lists nodes by change and group, in pages and as CSV', async () => {
    const made = await preview(admin, [publishing('web', '1.1.0')]);
    const names = async (query: string) =>
      (await nodesOf(admin, made, query)).map(({ fqdn }: { fqdn: string }) =>
        fqdn.replace('.example.org', ''),
      );
    expect(await names('?change=changed')).to.deep.equal(['web-01', 'web-02', 'web-03']);
    expect(await names('?change=Unchanged')).to.deep.equal(['idle-01']);
    expect(await names('?groupId=1')).to.deep.equal(['web-01', 'web-02']);
    expect(await names('?groupId=1&change=Unchanged')).to.deep.equal([]);
    expect(await names('?groupId=7')).to.deep.equal([]);
    expect(await names('?take=1&skip=1&change=Changed')).to.deep.equal(['web-02']);
    const path = `${PREVIEWS}/${made.id}/nodes`;
    const page = await admin.get(`${path}?change=Changed&take=2`);
    expect(page.headers['x-total-count']).to.equal('3');
    expect(page.headers['link']).to.include('rel="next"');
    await expectInvalid(admin.get(`${path}?change=Other`));
    await expectInvalid(admin.get(`${path}?fqdn=web`));
    const csv = await admin.get(`${path}?change=Changed&take=1`, { Accept: 'text/csv' });
    expect(csv.text.split('\r\n')[0]).to.equal('nodeId,fqdn,groupId,change');
    expect(csv.text.split('\r\n')).to.have.length(5);
    const groups = await admin.get(`${PREVIEWS}/${made.id}/groups?take=1&skip=1`);
    expect(groups.headers['x-total-count']).to.equal('2');
    expect(groups.json.map(({ id }: { id: string }) => id)).to.deep.equal(['2']);
  });

  it('stays what it was when the state moves on', async () => {
    const made = await preview(admin, [setting('web', '1.4.0', documented(84))]);
    const group = await groupOf(admin, made, '1');
    await saveParameters(hawser, { configuration: 'web', version: '1.4.0', content: documented(99) });
    expect(await groupOf(admin, made, '1')).to.deep.equal(group);
    expect(await ok(200, admin.get(`${PREVIEWS}/${made.id}`))).to.deep.equal(made);
  });
});
