// everyday: SQLite, PostgreSQL
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

interface Version {
  version: string;
  status: string;
  createdAt: string;
  commit: string;
}

describe('an author adds versions', () => {
  const hawser = started(startHawser);

  const list = (name: string): Promise<Version[]> => ok(200, hawser.admin.get(versionsOf(name)));
  const versionsIn = async (name: string) => (await list(name)).map(({ version }) => version);

  it('and gets a draft with all its members', async () => {
    await ok(201, create(hawser.admin, 'members'));
    const before = Date.now();
    const files = { [MAIN]: 'x', 'a/b.yaml': 'y' };
    const reply = await addVersion(hawser.admin, 'members', { version: '1.1.0-beta.3' }, { files });
    expect(reply.status, reply.text).to.equal(201);
    expect(reply.headers['location']).to.equal(`${versionsOf('members')}/1.1.0-beta.3`);
    const { ignoredFiles, ...made } = reply.json;
    const { createdAt, commit, findings, ...rest } = made;
    expect(ignoredFiles).to.deep.equal([]);
    expect(findings).to.have.length(1);
    expect(rest).to.deep.equal({
      version: '1.1.0-beta.3',
      status: 'Draft',
      entryPoint: MAIN,
      prereleaseChannel: 'beta',
      fileCount: 2,
      createdBy: 'admin',
      author: { name: 'admin', email: 'admin@localhost' },
      signature: null,
      publishedAt: null,
      publishedBy: null,
      signatureCheck: null,
      withdrawn: null,
      rollout: null,
      message: null,
    });
    expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(createdAt)).to.be.within(before, Date.now());
    const branch = hawser.git('configurations/members.git', 'rev-parse', 'refs/heads/draft/1.1.0-beta.3');
    expect(commit).to.equal(branch.trim());
    expect((await list('members'))[0]).to.deep.equal({ ...made, findings: null });
  });

  it('whose number follows the highest where none is given, prereleases and build metadata included', async () => {
    await ok(201, create(hawser.admin, 'next', { version: '1.0.0-rc.1' }));
    const next = async () => (await ok(201, addVersion(hawser.admin, 'next'))).version;
    expect(await next()).to.equal('1.0.0');
    expect(await next()).to.equal('1.0.1');
    await ok(201, addVersion(hawser.admin, 'next', { version: '2.3.4+build.7' }));
    expect(await next()).to.equal('2.3.5');
    await ok(201, addVersion(hawser.admin, 'next', { version: '0.9.0' }));
    expect(await next()).to.equal('2.3.6');
    expect(await next()).to.equal('2.3.7');
  });

  it('distinct ones when twenty ask at once without a version', async () => {
    await ok(201, create(hawser.admin, 'crowd'));
    const replies = await Promise.all(Array.from({ length: 20 }, () => addVersion(hawser.admin, 'crowd')));
    expect(replies.map((reply) => reply.status)).to.deep.equal(Array(20).fill(201));
    const given = replies.map((reply) => reply.json.version);
    const wanted = Array.from({ length: 20 }, (_, at) => `1.0.${at + 1}`);
    expect(given).to.have.members(wanted);
    expect(await versionsIn('crowd')).to.deep.equal([...wanted.reverse(), '1.0.0']);
    expect((await hawser.admin.get(`${CONFIGURATIONS}/crowd`)).json.versionCount).to.equal(21);
  });

  it('of one number only once, when twenty ask for it at once', async () => {
    await ok(201, create(hawser.admin, 'once'));
    const asking = Array.from({ length: 20 }, (_, at) =>
      addVersion(hawser.admin, 'once', { version: at % 2 ? '2.0.0' : `2.0.0+twin.${at}` }),
    );
    const replies = await Promise.all(asking);
    expect(replies.filter((reply) => reply.status === 201)).to.have.length(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      await expectProblem(reply, 409, 'version_exists');
    }
    expect(await versionsIn('once')).to.have.length(2);
  });

  it('but none that exists, as a draft, published, or as a twin by build metadata', async () => {
    await publishConfiguration(hawser.admin, 'exists', { '1.0.0': { [MAIN]: 'x' } });
    await ok(201, addVersion(hawser.admin, 'exists', { version: '1.1.0+one' }));
    for (const version of ['1.0.0', '1.0.0+x', '1.1.0', '1.1.0+one', '1.1.0+two']) {
      await expectProblem(addVersion(hawser.admin, 'exists', { version }), 409, 'version_exists', version);
    }
    expect(await versionsIn('exists')).to.deep.equal(['1.1.0+one', '1.0.0']);
  });

  it('with the entry point of the highest version, unless another is named', async () => {
    const start = { files: { 'start.yaml': 'x', 'other.yaml': 'y' } };
    await ok(201, create(hawser.admin, 'entry', { entryPoint: 'start.yaml' }, start));
    const inherited = await ok(201, addVersion(hawser.admin, 'entry', {}, start));
    expect(inherited.entryPoint).to.equal('start.yaml');
    const named = await ok(201, addVersion(hawser.admin, 'entry', { entryPoint: 'other.yaml' }, start));
    expect(named.entryPoint).to.equal('other.yaml');
    await ok(201, addVersion(hawser.admin, 'entry', { version: '0.1.0' }, start));
    const next = await ok(201, addVersion(hawser.admin, 'entry', {}, start));
    expect(next).to.include({ version: '1.0.3', entryPoint: 'other.yaml' });
    await expectInvalid(addVersion(hawser.admin, 'entry'));
  });

  it('at an entry point of any legal path', async () => {
    const odd = [
      'a b/Ä ö.yaml',
      'line\u2028separator.yaml',
      'x: y #z.yaml'.replace(':', ''),
      '✓/🚀.json',
      '-',
    ];
    await ok(201, create(hawser.admin, 'odd'));
    for (const entryPoint of odd) {
      const made = addVersion(hawser.admin, 'odd', { entryPoint }, { files: { [entryPoint]: 'x' } });
      const { version } = await ok(201, made);
      expect((await ok(200, publish(hawser.admin, 'odd', version))).entryPoint).to.equal(entryPoint);
    }
    await hawser.restart();
    const entryPoints = (await ok(200, hawser.admin.get(versionsOf('odd')))) as { entryPoint: string }[];
    expect(entryPoints.map(({ entryPoint }) => entryPoint)).to.deep.equal([...odd.reverse(), MAIN]);
  });

  it('and lists them highest first by SemVer, page by page', async () => {
    const wanted = ['10.0.0', '2.0.0', '2.0.0-rc.10', '2.0.0-rc.2', '2.0.0-1', '1.10.0', '1.9.0', '0.0.1'];
    await ok(201, create(hawser.admin, 'sorted', { version: '1.9.0' }));
    const rest = wanted.filter((version) => version !== '1.9.0').sort();
    await Promise.all(rest.map((version) => addVersion(hawser.admin, 'sorted', { version })));
    expect(await versionsIn('sorted')).to.deep.equal(wanted);
    const page = await hawser.admin.get(`${versionsOf('sorted')}?skip=2&take=3`);
    expect(page.json.map(({ version }: Version) => version)).to.deep.equal(wanted.slice(2, 5));
    expect(page.headers['x-total-count']).to.equal(String(wanted.length));
    expect(page.headers['link']).to.match(/^<[^>]*skip=5[^>]*>; rel="next"$/);
    await expectInvalid(hawser.admin.get(`${versionsOf('sorted')}?take=0`));
    const { latestVersion, latestPublishedVersion } = await ok(
      200,
      hawser.admin.get(`${CONFIGURATIONS}/sorted`),
    );
    expect([latestVersion, latestPublishedVersion]).to.deep.equal(['10.0.0', null]);
  });

  it('each a draft that nodes do not get and that moves updatedAt', async () => {
    const made = await ok(201, create(hawser.admin, 'drafts'));
    await ok(201, addVersion(hawser.admin, 'drafts'));
    const read = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/drafts`));
    expect(read.createdAt).to.equal(made.createdAt);
    expect(Date.parse(read.updatedAt)).to.be.greaterThan(Date.parse(made.updatedAt));
    const node = await hawser.registerNode('drafts.example.org');
    const assign = hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, {
      configurationName: 'drafts',
    });
    await expectProblem(assign, 409, 'no_eligible_version');
  });
});

describe('an author publishes a version', () => {
  const hawser = started(startHawser);

  const refs = (name: string) =>
    hawser.git(`configurations/${name}.git`, 'for-each-ref', '--format=%(refname)').trim().split('\n');
  const commitOf = (name: string, ref: string) =>
    hawser.git(`configurations/${name}.git`, 'rev-parse', `${ref}^{commit}`).trim();

  it('and gets it back published, with who and when', async () => {
    const created = await ok(201, create(hawser.admin, 'first', { version: '1.0.0-rc.1+b' }));
    const [draft] = await ok(200, hawser.admin.get(versionsOf('first')));
    const before = Date.now();
    const reply = await publish(hawser.admin, 'first', '1.0.0-rc.1+b');
    const { affectedParameterFiles, nodes, ...version } = await ok(200, reply);
    expect(nodes).to.deep.equal({ offered: 0, direct: 0, viaComposites: 0, pinned: 0 });
    expect(affectedParameterFiles).to.deep.equal([]);
    const { publishedAt, ...rest } = version;
    expect(rest).to.deep.equal({
      version: '1.0.0-rc.1+b',
      status: 'Published',
      entryPoint: MAIN,
      prereleaseChannel: 'rc',
      fileCount: 1,
      findings: [],
      createdAt: draft.createdAt,
      createdBy: 'admin',
      author: { name: 'admin', email: 'admin@localhost' },
      signature: null,
      publishedBy: 'admin',
      message: null,
      commit: draft.commit,
      signatureCheck: null,
      withdrawn: null,
      rollout: null,
    });
    expect(publishedAt).to.match(/\.\d{3}Z$/);
    expect(Date.parse(publishedAt)).to.be.within(before, Date.now());
    expect(commitOf('first', 'v1.0.0-rc.1+b')).to.equal(rest.commit);
    const [listed] = await ok(200, hawser.admin.get(versionsOf('first')));
    expect(listed).to.deep.equal({ ...version, findings: null });
    const configuration = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/first`));
    expect(configuration).to.include({
      latestPublishedVersion: '1.0.0-rc.1+b',
      versionCount: 1,
      id: created.id,
    });
  });

  it('once, when twenty publish it at once', async () => {
    await ok(201, create(hawser.admin, 'race'));
    const replies: Reply[] = await Promise.all(
      Array.from({ length: 20 }, () => publish(hawser.admin, 'race', '1.0.0')),
    );
    expect(replies.filter((reply) => reply.status === 200)).to.have.length(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      await expectProblem(reply, 409, 'already_published');
    }
    expect(refs('race')).to.deep.equal(['refs/heads/main', 'refs/tags/v1.0.0']);
  });

  it('not one that is published, nor one that does not exist', async () => {
    await publishConfiguration(hawser.admin, 'twice', { '1.0.0+a': { [MAIN]: 'x' } });
    await expectProblem(publish(hawser.admin, 'twice', '1.0.0+a'), 409, 'already_published');
    for (const version of ['1.0.0', '1.0.0+b', '2.0.0', 'v1.0.0+a', 'main', '%00']) {
      await expectProblem(publish(hawser.admin, 'twice', version), 404, 'not_found', version);
    }
    await expectProblem(publish(hawser.admin, 'nothing', '1.0.0'), 404, 'not_found');
  });

  it('which moves main to the highest stable one only, and ends the draft branch', async () => {
    const steps: [version: string, main: string | null][] = [
      ['1.0.0-rc.1', null],
      ['1.0.0', '1.0.0'],
      ['2.0.0-beta', '1.0.0'],
      ['0.9.0', '1.0.0'],
      ['1.0.1', '1.0.1'],
      ['2.0.0', '2.0.0'],
      ['1.9.0', '2.0.0'],
    ];
    await ok(201, create(hawser.admin, 'main', { version: '1.0.0-rc.1' }));
    const head = hawser.git('configurations/main.git', 'symbolic-ref', 'HEAD').trim();
    expect(head).to.equal('refs/heads/main');
    for (const [at, [version, main]] of steps.entries()) {
      if (at > 0) await ok(201, addVersion(hawser.admin, 'main', { version }));
      expect(refs('main')).to.include(`refs/heads/draft/${version}`);
      await ok(200, publish(hawser.admin, 'main', version));
      const after = refs('main');
      expect(after).to.include(`refs/tags/v${version}`).and.to.not.include(`refs/heads/draft/${version}`);
      if (main === null) expect(after).to.not.include('refs/heads/main');
      else expect(commitOf('main', 'main')).to.equal(commitOf('main', `v${main}`));
    }
  });
});
