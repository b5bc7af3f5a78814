// everyday: SQLite; full: PostgreSQL
/** A freeze: nobody changes what nodes get, and everything else goes on. */

import { expect } from 'chai';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { auditEntries, type Entry } from '../support/audit.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish } from '../support/configurations.ts';
import { ENGINE } from '../support/engine.ts';
import { gitClient } from '../support/git-client.ts';
import {
  createToken,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { beginAuthor, DRAFT } from '../support/push-author.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { doDeed, prepareRings, type Rings, rollOut, rolloutsOf } from '../support/rollouts.ts';
import { NODE_ID, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';
import { offerAgain, offerFileAgain, versionOf, withdraw, withdrawFile } from '../support/withdrawals.ts';

const FREEZE = '/api/v1/settings/freeze';
const NOT_FROZEN = { isFrozen: false, reason: null, until: null, frozenBy: null, frozenAt: null };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('a freeze', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let rings: Rings;

  before(async () => {
    rings = await prepareRings(hawser);
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    for (const version of ['1.1.0', '1.2.0', '1.3.0'])
      await ok(201, addVersion(hawser.admin, 'web', { version }));
    await ok(201, hawser.admin.post('/api/v1/composite-configurations', { name: 'farm' }));
    node = await hawser.registerNode('frozen.example.org');
    await assign(hawser, node, 'web');
  });
  afterEach(() => ok(204, hawser.admin.delete(FREEZE)));

  const inHours = (hours: number) => new Date(hawser.clock.now() + hours * HOUR).toISOString();
  const freeze = (body: object = {}) =>
    hawser.admin.put(FREEZE, { reason: 'Christmas sales', until: inHours(1), ...body });

  it('is shown while it lasts, is changed, and ends at its time or before, each with an entry', async () => {
    const [from] = await auditEntries(hawser, 'take=1');
    expect(await ok(200, hawser.admin.get(FREEZE))).to.deep.equal(NOT_FROZEN);
    const until = inHours(1);
    const frozen = await ok(200, freeze({ until }));
    expect(frozen).to.include({ isFrozen: true, reason: 'Christmas sales', until, frozenBy: 'admin' });
    expect(await ok(200, hawser.admin.get(FREEZE))).to.deep.equal(frozen);
    expect(await ok(200, freeze({ until }))).to.deep.equal(frozen);
    const { isFrozen: _, ...shown } = frozen;
    expect((await ok(200, hawser.admin.get('/api/v1/auth/me'))).freeze).to.deep.equal(shown);
    // Anybody may ask this, so the reason is not told.
    const ready = await ok(200, hawser.client().get('/health/ready'));
    expect(ready).to.include({ status: 'Ready', frozenUntil: until });
    expect(JSON.stringify(ready)).to.not.include('Christmas');
    await ok(200, freeze({ until: inHours(2) }));
    hawser.clock.advance(3 * HOUR);
    expect(await ok(200, hawser.admin.get(FREEZE))).to.deep.equal(NOT_FROZEN);
    expect(await ok(200, hawser.client().get('/health/ready'))).to.include({ frozenUntil: null });
    await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    await ok(200, freeze());
    for (const _again of [1, 2]) await ok(204, hawser.admin.delete(FREEZE));
    expect((await ok(200, hawser.admin.get('/api/v1/auth/me'))).freeze).to.equal(null);
    const entries = await auditEntries(hawser, `after=${from?.id}`);
    const told = entries.filter(({ action }) => action.startsWith('freeze'));
    expect(told.map(({ action }) => action)).to.deep.equal([
      ...['freeze.set', 'freeze.changed', 'freeze.set', 'freeze.ended'],
    ]);
    expect(told[0]).to.include({ actorName: 'admin', resourceType: 'Settings' });
    expect(told[0]?.details).to.include({ reason: 'Christmas sales', until });
    expect(told[1]?.details).to.have.nested.property('until.from', until);
  });

  it('needs a reason and an end that lies ahead and not too far, and the permission of settings', async () => {
    const bad: [path: string, sentence: RegExp, body: object][] = [
      ['/until', /A freeze needs an end/, { reason: 'so' }],
      ['/until', /A freeze needs an end/, { reason: 'so', until: null }],
      ['/until', /future/, { reason: 'so', until: inHours(-1) }],
      ['/until', /at most 90 days/, { reason: 'so', until: inHours((91 * DAY) / HOUR) }],
      ['/until', /a time such as/, { reason: 'so', until: 'tomorrow' }],
      ['/reason', /A freeze needs a reason/, { until: inHours(1) }],
      ['/reason', /1 to 1,000/, { reason: '  ', until: inHours(1) }],
      ['', /./, { reason: 'so', until: inHours(1), more: 1 }],
    ];
    for (const [path, sentence, body] of bad) {
      const { json } = await expectProblem(hawser.admin.put(FREEZE, body), 400, 'validation_failed');
      expect(json.errors, JSON.stringify(body)).to.have.length(1);
      expect(json.errors[0].path).to.satisfy((named: string) => path === '' || named === path);
      expect(json.errors[0].message).to.match(sentence);
    }
    expect(await ok(200, hawser.admin.get(FREEZE))).to.deep.equal(NOT_FROZEN);
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['server.settings.read'] });
    await expectProblem(reader.delete(FREEZE), 403, 'forbidden');
    await ok(200, reader.get(FREEZE));
  });

  it('refuses whatever changes what nodes get, and says until when and why', async () => {
    const until = inHours(1);
    await ok(200, freeze({ until }));
    const { admin } = hawser;
    const bundle = await poll(node);
    const ofNode = `/api/v1/nodes/${node.nodeId}`;
    const { id } = await ok(200, admin.get(`${CONFIGURATIONS}/web`));
    const parameters = { fields: { scopeTypeName: 'Default', version: '1.0.0', publish: 'true' } };
    const part = { name: 'parametersFile', filename: 'a.yaml', content: 'parameters: {}' };
    const refused: Record<string, ReturnType<typeof poll>> = {
      publish: publish(admin, 'web', '1.2.0'),
      withdraw: withdraw(admin, 'web', '1.0.0'),
      'offer again': offerAgain(admin, 'web', '1.0.0'),
      delete: admin.delete(`${CONFIGURATIONS}/web`),
      'parameters on': admin.call('PATCH', `${CONFIGURATIONS}/web`, {
        json: { useServerManagedParameters: false },
      }),
      'composite publish': admin.put('/api/v1/composite-configurations/farm/versions/1.0.0/publish'),
      'composite delete': admin.delete('/api/v1/composite-configurations/farm'),
      'parameters at once': admin.upload(`${CONFIGURATIONS}/web/parameters/parameter-files`, {
        ...parameters,
        part,
      }),
      schema: admin.call('PUT', `${CONFIGURATIONS}/web/parameters`, {
        form: { fields: { version: '1.0.0' }, part },
      }),
      'parameters publish': admin.put(`/api/v1/parameters/${UNKNOWN}/${id}/versions/1.0.0/publish`),
      'parameters withdraw': withdrawFile(admin, { configurationId: id, version: '1.0.0' }),
      'parameters offer again': offerFileAgain(admin, { configurationId: id, version: '1.0.0' }),
      assign: admin.put(`${ofNode}/configuration`, { configurationName: 'web' }),
      unassign: admin.delete(`${ofNode}/configuration`),
      tag: admin.post(`${ofNode}/tags`, { scopeValueId: rings.canary }),
      untag: admin.delete(`${ofNode}/tags/${rings.canary}`),
      lcm: admin.put(`${ofNode}/lcm-config`, { configurationMode: 'Monitor' }),
      bulk: admin.post('/api/v1/nodes/bulk', { action: 'Unassign', nodeIds: [node.nodeId] }),
      'lcm defaults': admin.put('/api/v1/settings/lcm-defaults', { defaultConfigurationMode: 'Monitor' }),
      reorder: admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: [] }),
      disable: admin.call('PATCH', `${SCOPE_TYPES}/${NODE_ID}/disable`),
      'roll out': rollOut(admin, 'web', '1.3.0'),
    };
    for (const [what, reply] of Object.entries(refused)) {
      const { json } = await expectProblem(reply, 423, 'frozen', what);
      expect(json, what).to.include({ reason: 'Christmas sales', until, frozenBy: 'admin' });
      expect(json.detail).to.include(until).and.to.include('admin').and.to.include('Christmas sales');
    }
    expect((await poll(node)).text).to.equal(bundle.text);
  });

  it('lets everything else go on', async () => {
    const { admin } = hawser;
    await tagNode(hawser, node.nodeId, rings.canary);
    await ok(201, rollOut(admin, 'web', '1.3.0'));
    await ok(200, freeze());
    await ok(201, create(admin, 'later'));
    await ok(201, addVersion(admin, 'web', { version: '2.0.0' }));
    const check = await ok(200, admin.get(`${versionOf('web', '2.0.0')}/publish-check`));
    expect(check.canPublish).to.equal(false);
    expect(check.blockers.map(({ code }: { code: string }) => code)).to.deep.equal([
      'frozen',
      'rollout_running',
    ]);
    const change = { kind: 'PublishConfiguration', configurationName: 'web', version: '2.0.0' };
    const preview = await admin.post('/api/v1/previews', { changes: [change] });
    expect(preview.status, preview.text).to.be.oneOf([201, 202]);
    expect(
      preview.json.warnings.map(({ code, path }: Record<string, string>) => `${path} ${code}`),
    ).to.deep.equal([...['/changes/0 frozen', '/changes/0 rollout_running']]);
    await ok(204, admin.delete(versionOf('web', '2.0.0')));
    await ok(200, admin.call('PATCH', `${CONFIGURATIONS}/web`, { json: { description: 'the web' } }));
    await ok(200, admin.put(`${versionOf('web', '1.0.0')}/withdraw?dryRun=true`));
    const fields = { scopeTypeName: 'Default', version: '1.0.0' };
    const part = { name: 'parametersFile', filename: 'a.yaml', content: 'parameters: {}' };
    await ok(201, admin.upload(`${CONFIGURATIONS}/later/parameters/parameter-files`, { fields, part }));
    await ok(200, poll(node));
    await ok(204, node.client.put(`/api/v1/nodes/${node.nodeId}/lcm-status`, { lcmStatus: 'Idle' }));
    // Machines come and go, and a stolen key must be shut out at any time.
    const other = await hawser.registerNode('new.example.org');
    await ok(204, admin.delete(`/api/v1/nodes/${other.nodeId}`));
    const rollout = `${rolloutsOf('web')}/1.3.0`;
    const { until: frozenUntil } = await ok(200, admin.get(FREEZE));
    expect(await ok(200, admin.get(rollout))).to.include({ frozenUntil });
    await expectProblem(doDeed(admin, rollout, 'complete'), 423, 'frozen');
    await ok(200, doDeed(admin, rollout, 'pause'));
    await expectProblem(doDeed(admin, rollout, 'resume', 'Paused'), 423, 'frozen');
    await ok(200, doDeed(admin, rollout, 'revert', 'Paused'));
    expect((await ok(200, poll(node))).version).to.equal('1.1.0');
  });

  it('refuses a push that publishes, and says why in the terminal of who pushes', async () => {
    const client = gitClient(hawser);
    try {
      const scopes = ['configurations.admin-override'];
      const author = await beginAuthor(
        hawser,
        client,
        await createToken(hawser.client(), hawser.session, scopes),
      );
      await author.commit({ 'main.dsc.yaml': '$schema: x\nresources: []\n# two\n' });
      await ok(200, freeze());
      const draft = await author.push(`HEAD:${DRAFT}/1.1.0`);
      expect(draft.code, draft.output).to.equal(0);
      const { code, output } = await author.push('-o', 'publish', `HEAD:${DRAFT}/1.2.0`);
      expect(code, output).to.equal(1);
      expect(output).to.match(/remote: hawser: draft\/1\.2\.0: frozen: .*Christmas sales/);
      expect(output).to.include('(frozen)').and.to.include('Nothing was changed');
    } finally {
      client.close();
    }
  });

  it('is told by the doctor, which is no fault', async () => {
    await ok(200, freeze());
    const { code, stdout } = await runHawser(hawser.folder, {}, ['doctor', '--json']);
    expect(code).to.equal(0);
    const checks: { findings: Record<string, string>[] }[] = JSON.parse(stdout).checks;
    const told = checks
      .flatMap(({ findings }) => findings)
      .filter(({ what }) => /Christmas sales/.test(what ?? ''));
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ severity: 'information', remedy: 'hawserctl freeze end lifts it' });
  });

  it('holds for every server from the moment that it is there', async () => {
    const other =
      ENGINE === 'postgres' ? await startHawser({ HAWSER_DATABASE_URL: hawser.databaseUrl ?? '' }) : null;
    try {
      const clients = [hawser.admin, other?.admin ?? hawser.admin];
      const names = Array.from({ length: 12 }, (_, at) => `race-${at}`);
      for (const name of names) await ok(201, create(hawser.admin, name, { version: '1.0.0' }));
      const publishing = names.map(async (name, at) => {
        const reply = await publish(clients[at % 2] as Hawser['admin'], name, '1.0.0');
        if (reply.status !== 200) await expectProblem(reply, 423, 'frozen');
      });
      await ok(200, freeze());
      await Promise.all(publishing);
      const [set] = await auditEntries(hawser, 'action=freeze.set&take=1');
      const later: Entry[] = await auditEntries(hawser, `after=${set?.id}&take=1000`);
      expect(later.filter(({ action }) => /published$/.test(action))).to.deep.equal([]);
      await expectProblem(publish(clients[1] as Hawser['admin'], 'later', '1.0.0'), 423, 'frozen');
    } finally {
      await other?.close();
    }
  });
});
