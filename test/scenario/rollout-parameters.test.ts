// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import {
  createToken,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { assign, configurationId, poll, pullBundle, saveParameters } from '../support/parameter-files.ts';
import { named, pushFolder } from '../support/parameter-folders.ts';
import { ran } from '../support/proof.ts';
import { authorOfFiles } from '../support/push-author.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { doDeed, nodeInRing, prepareRings, type Rings, rolloutsOf, step } from '../support/rollouts.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';
import { fileVersionOf, offerFileAgain, withdraw, withdrawFile } from '../support/withdrawals.ts';

const FILES = { [MAIN]: '$schema: x\nparameters:\n  v: {type: string, defaultValue: x}\nresources: []\n' };
const of = (v: string) => `parameters:\n  v: ${v}\n`;
const inDefault = (version: string) => ({ scopeTypeName: 'Default', scopeValue: null, version });

describe('parameter files that roll out', () => {
  let hawser: Hawser;
  let rings: Rings;
  let name: string;
  let tests = 0;
  let canary: NodeUnderTest;
  let rest: NodeUnderTest;
  let token: string;

  before(async () => {
    hawser = await startHawser();
    rings = await prepareRings(hawser);
    const scopes = ['configurations.admin-override', 'parameters.admin-override'];
    token = await createToken(hawser.client(), hawser.session, scopes);
  });
  after(() => hawser.close());
  const client = started(async () => gitClient(hawser));

  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': FILES });
    await save('1.0.0', 'old');
    await save('1.0.1', 'new', false);
    canary = await nodeInRing(hawser, rings.canary, name);
    rest = await nodeInRing(hawser, null, name);
  });

  const save = (version: string, v: string, isPublished = true) =>
    saveParameters(hawser, { configuration: name, version, content: of(v), publish: isPublished });
  const draft = (version: string) =>
    ok(201, addVersion(hawser.admin, name, { version }, { files: { ...FILES, 'n.txt': version } }));
  const start = (more: Record<string, unknown> = {}) => {
    const gate = { bakeTime: '10:00:00', minNodes: 1 };
    const plan = { parameters: [inDefault('1.0.1')], steps: [step('canary', gate)], onHalt: 'Keep' };
    return hawser.admin.post(rolloutsOf(name), { ...plan, ...more });
  };
  const deed = (does: string, key = 'parameters@1', state = 'Running') =>
    ok(200, doDeed(hawser.admin, `${rolloutsOf(name)}/${key}`, does, state));
  const show = (key = 'parameters@1') => ok(200, hawser.admin.get(`${rolloutsOf(name)}/${key}`));
  const gotBy = async (node: NodeUnderTest, path = 'parameters.yaml') =>
    /v: (\S+)/.exec((await pullBundle(node))[path] ?? '')?.[1];
  const see = async () => [await gotBy(canary), await gotBy(rest)];
  const both = async (node: NodeUnderTest) => [(await ok(200, poll(node))).version, await gotBy(node)];
  const file = async (version: string) => ({
    configurationId: await configurationId(hawser.admin, name),
    version,
  });
  const fileNow = async (version: string) => ok(200, hawser.admin.get(fileVersionOf(await file(version))));
  const git = (...args: string[]) => hawser.git(`configurations/${name}.git`, ...args).trim();

  it('reach the nodes of open steps alone, and all at completion', async () => {
    const begun = await ok(201, start());
    expect(begun).to.deep.include({ key: 'parameters@1', version: null, parameters: [inDefault('1.0.1')] });
    expect(await see()).to.deep.equal(['new', 'old']);
    const mark = { key: 'parameters@1', state: 'Running', step: 0, steps: 1 };
    expect(await fileNow('1.0.1')).to.deep.include({ status: 'Published', rollout: mark });
    expect(await fileNow('1.0.0')).to.deep.include({ rollout: null });
    await deed('complete');
    expect(await see()).to.deep.equal(['new', 'new']);
    expect((await fileNow('1.0.1')).rollout.state).to.equal('Completed');
    await save('1.0.2', 'newer', false);
    expect((await ok(201, start({ parameters: [inDefault('1.0.2')] }))).key).to.equal('parameters@2');
    expect(await see()).to.deep.equal(['newer', 'new']);
  });

  it('open and close together with a version', async () => {
    await draft('1.1.0');
    const begun = await ok(201, start({ version: '1.1.0', onHalt: 'Revert' }));
    expect(begun).to.deep.include({ key: '1.1.0', version: '1.1.0', parameters: [inDefault('1.0.1')] });
    expect(await both(canary)).to.deep.equal(['1.1.0', 'new']);
    expect(await both(rest)).to.deep.equal(['1.0.0', 'old']);
    await deed('halt', '1.1.0');
    expect([await both(canary), await both(rest)]).to.deep.equal([
      ['1.0.0', 'old'],
      ['1.0.0', 'old'],
    ]);
    await deed('complete', '1.1.0', 'Halted');
    expect(await both(rest)).to.deep.equal(['1.1.0', 'new']);
  });

  it('stay with those who have them after a halt, until a higher one is published', async () => {
    const other = await nodeInRing(hawser, rings.canary, name);
    await ok(201, start());
    await ran(canary);
    await deed('halt');
    expect([await gotBy(canary), await gotBy(other), await gotBy(rest)]).to.deep.equal(['new', 'old', 'old']);
    await expectProblem(start(), 409, 'rollout_halted');
    await save('1.0.2', 'mended');
    expect(await see()).to.deep.equal(['mended', 'mended']);
  });

  it('are taken back by reverting, and by withdrawing any of it', async () => {
    await ok(201, start());
    await ran(canary);
    await deed('revert');
    expect(await see()).to.deep.equal(['old', 'old']);
    await draft('1.1.0');
    await save('1.0.2', 'newer', false);
    await ok(201, start({ version: '1.1.0', parameters: [inDefault('1.0.2')] }));
    await ok(200, withdrawFile(hawser.admin, await file('1.0.2')));
    const { state, cause } = await show('1.1.0');
    expect([state, cause.reason, cause.summary]).to.deep.equal([
      ...['Halted', 'Withdrawn', 'admin has withdrawn a parameter file of it.'],
    ]);
    expect(await both(canary)).to.deep.equal(['1.0.0', 'old']);
    await draft('1.2.0');
    await save('1.0.3', 'newest', false);
    await ok(201, start({ version: '1.2.0', parameters: [inDefault('1.0.3')] }));
    expect(await both(canary)).to.deep.equal(['1.2.0', 'newest']);
    await ok(200, withdraw(hawser.admin, name, '1.2.0'));
    expect(await both(canary)).to.deep.equal(['1.0.0', 'old']);
  });

  it('reach nodes by composites too, and count there', async () => {
    const composite = `${name}-all`;
    await publishWithChildren(hawser.admin, composite, '1.0.0', [{ name }]);
    const far = await hawser.registerNode(`f${tests}.example.org`);
    await tagNode(hawser, far.nodeId, rings.canary);
    await assign(hawser, far, composite, { isComposite: true });
    await ok(201, start());
    expect(await gotBy(far, `${name}/parameters.yaml`)).to.equal('new');
    const rows = await ok(200, hawser.admin.get(`${rolloutsOf(name)}/parameters@1/nodes?step=0`));
    const expected = [canary.nodeId, far.nodeId].sort();
    expect(rows.map(({ nodeId }: { nodeId: string }) => nodeId).sort()).to.deep.equal(expected);
    await ran(far);
    await eventually(async () => {
      const { steps } = await show();
      expect(steps[0].counts).to.include({ offered: 2, taken: 1, success: 1 });
    });
  });

  it('refuse every other publishing of the configuration meanwhile, and of no other one', async () => {
    await save('1.0.2', 'other', false);
    await draft('1.1.0');
    await ok(201, start());
    const running = (reply: ReturnType<typeof start>) => expectProblem(reply, 409, 'rollout_running');
    const at = await file('1.0.2');
    await running(hawser.admin.put(fileVersionOf(at, '/publish')));
    const { blockers } = await ok(200, hawser.admin.get(fileVersionOf(at, '/publish-check')));
    expect(blockers.map(({ code }: { code: string }) => code)).to.deep.equal(['rollout_running']);
    await running(publish(hawser.admin, name, '1.1.0'));
    await running(start({ version: '1.1.0', parameters: undefined }));
    await running(start({ version: '1.1.0', parameters: [inDefault('1.0.2')] }));
    await running(start({ parameters: [inDefault('1.0.2')] }));
    await running(
      pushFolder(hawser.admin, { [`parameters/${name}/Default.yaml`]: of('pushed') }, { publish: true }),
    );
    await ok(200, withdrawFile(hawser.admin, await file('1.0.0')));
    await running(offerFileAgain(hawser.admin, await file('1.0.0')));
    await publishConfiguration(hawser.admin, `${name}-free`, { '1.0.0': FILES });
    await saveParameters(hawser, { configuration: `${name}-free`, content: of('free') });
    await deed('halt');
    await ok(200, publish(hawser.admin, name, '1.1.0'));
    await ok(201, start({ version: '1.1.0', parameters: undefined }));
    await running(hawser.admin.put(fileVersionOf(at, '/publish')));
  });

  it('count as given by a folder while they roll out, and no more once that has halted', async () => {
    const push = (v: string) => pushFolder(hawser.admin, { [`parameters/${name}/Default.yaml`]: of(v) });
    await ok(201, start());
    expect((await push('new')).status).to.equal(204);
    await deed('halt');
    expect((await push('old')).status).to.equal(204);
    expect(named(await ok(200, push('new')))).to.deep.equal(['Default 1.0.2 Draft']);
  });

  it('refuse what stock git pushes to be published meanwhile, and take drafts', async () => {
    await ok(201, start());
    const author = await authorOfFiles(client, name, token);
    await author.commit({ 'parameters.yaml': of('pushed') });
    const draftRef = `HEAD:refs/heads/draft/Default/1.0.2`;
    await author.ok('tag', '-a', 'Default/v1.0.2', '-m', 'pushed');
    for (const refs of [
      ['-o', 'publish', draftRef],
      [draftRef, 'refs/tags/Default/v1.0.2'],
    ]) {
      const { code, output } = await author.push(...refs);
      expect(code, output).not.to.equal(0);
      expect(output).to.include('rollout_running');
    }
    expect((await hawser.admin.get(fileVersionOf(await file('1.0.2')))).status).to.equal(404);
    const { code, output } = await author.push(draftRef);
    expect(code, output).to.equal(0);
    expect((await fileNow('1.0.2')).status).to.equal('Draft');
    await deed('complete');
    await author.ok('push', 'origin', 'refs/tags/Default/v1.0.2');
    expect(await see()).to.deep.equal(['pushed', 'pushed']);
  });

  it('are refused by their place, and then nothing is published', async () => {
    const values = await createScopeType(hawser, `Site${tests}`, { valueMode: 'Restricted' });
    await createScopeValue(hawser, values, 'north');
    const north = { scopeTypeName: `Site${tests}`, scopeValue: 'north' };
    await expectInvalid(start({ parameters: undefined }), '/version');
    await expectInvalid(start({ parameters: [] }), '/parameters');
    await expectInvalid(start({ parameters: [inDefault('1.0.1'), inDefault('1.0.0')] }), '/parameters/1');
    const refused = async (parameters: object[], status: number, code: string) => {
      const { json } = await expectProblem(start({ parameters }), status, code);
      return json.errors.map(({ path }: { path: string }) => path);
    };
    const lost = [inDefault('1.0.1'), { ...north, version: '7.0.0' }];
    expect(await refused(lost, 404, 'not_found')).to.deep.equal(['/parameters/1']);
    const unknown = [{ scopeTypeName: 'Nowhere', scopeValue: 'x', version: '1.0.0' }];
    expect(await refused(unknown, 404, 'not_found')).to.deep.equal(['/parameters/0']);
    await saveParameters(hawser, {
      configuration: name,
      scopeType: `Site${tests}`,
      value: 'north',
      content: of('n'),
    });
    expect(
      await refused([inDefault('1.0.0'), { ...north, version: '7.0.0' }], 404, 'not_found'),
    ).to.deep.equal(['/parameters/1']);
    await save('1.0.2', 'higher');
    expect(await refused([inDefault('1.0.0')], 409, 'not_possible')).to.deep.equal(['/parameters/0']);
    expect((await fileNow('1.0.1')).status).to.equal('Draft');
    expect(await see()).to.deep.equal(['higher', 'higher']);
  });

  it('tell how many nodes of each ring a version would reach with them', async () => {
    await draft('1.1.0');
    const path = `${versionsOf(name)}/1.1.0/rings`;
    const all = [
      { ring: 'canary', nodes: 1 },
      { ring: 'early', nodes: 0 },
      { ring: null, nodes: 1 },
    ];
    expect(await ok(200, hawser.admin.get(`${path}?parameters=Default@1.0.1`))).to.deep.equal(all);
    await expectInvalid(hawser.admin.get(`${path}?parameters=Default`), '/parameters');
    await expectProblem(hawser.admin.get(`${path}?parameters=Default@9.0.0`), 404, 'not_found');
  });

  it('are recorded in the repository of the configuration, without their content', async () => {
    await save('1.0.1', 'canary-of-content', false);
    await ok(201, start({ message: 'Why' }));
    await deed('pause');
    await deed('resume', 'parameters@1', 'Paused');
    expect(git('rev-list', '--count', 'rollout/parameters@1')).to.equal('3');
    const text = git('show', 'rollout/parameters@1:rollout.json');
    expect(text).to.include('"1.0.1"').and.include('"Default"').and.not.include('canary-of-content');
    const { history } = await show();
    expect(history.map(({ to }: { to: string }) => to)).to.deep.equal(['Running', 'Paused', 'Running']);
  });

  it('keep their scope from being deleted while they roll out', async () => {
    const type = await createScopeType(hawser, `Zone${tests}`, { valueMode: 'Restricted' });
    const value = await createScopeValue(hawser, type, 'a');
    const scopeType = `Zone${tests}`;
    await saveParameters(hawser, {
      configuration: name,
      scopeType,
      value: 'a',
      content: of('z'),
      publish: false,
    });
    await ok(201, start({ parameters: [{ scopeTypeName: scopeType, scopeValue: 'a', version: '1.0.0' }] }));
    const path = `${SCOPE_TYPES}/${type}/values/${value}?withParameters=true`;
    await expectProblem(hawser.admin.delete(path), 409, 'in_use');
    await expectProblem(hawser.admin.delete(`${SCOPE_TYPES}/${type}?withParameters=true`), 409, 'in_use');
    await deed('complete');
    await ok(204, hawser.admin.delete(path));
  });

  it('may name what was published just now, and a schema that comes with them', async () => {
    const files = {
      [MAIN]:
        '$schema: x\nparameters:\n  v: {type: string, defaultValue: x}\n  w: {type: int, defaultValue: 1}\nresources: []\n',
    };
    await ok(
      200,
      hawser.admin.put('/api/v1/settings/validation', { defaultParameterValidationMode: 'Strict' }),
    );
    try {
      await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }, { files }));
      await saveParameters(hawser, {
        configuration: name,
        version: '1.0.2',
        content: 'parameters:\n  w: 2\n',
        publish: false,
      });
      await expectProblem(
        hawser.admin.put(fileVersionOf(await file('1.0.2'), '/publish')),
        409,
        'validation_failed',
      );
      const { json } = await expectProblem(
        start({ parameters: [inDefault('1.0.2')] }),
        409,
        'validation_failed',
      );
      expect(json.errors[0].path).to.match(/^\/parameters\/0\//);
      await ok(201, start({ version: '1.1.0', parameters: [inDefault('1.0.2')] }));
    } finally {
      await ok(
        200,
        hawser.admin.put('/api/v1/settings/validation', { defaultParameterValidationMode: 'Warn' }),
      );
    }
    await deed('complete', '1.1.0');
    expect((await ok(200, hawser.admin.get(`${versionsOf(name)}/1.1.0`))).rollout.state).to.equal(
      'Completed',
    );
    await ok(201, start({ parameters: [inDefault('1.0.2')] }));
    await expectProblem(start({ parameters: [inDefault('1.0.1')] }), 409, 'rollout_running');
  });
});
