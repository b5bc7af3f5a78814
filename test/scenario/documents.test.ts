// full: SQLite
/** What dsc cannot read is found before nodes get it, by every way in, and is never taken for "nothing there". */

import { expect } from 'chai';
import {
  addChild,
  addCompositeDraft,
  compositeVersionOf,
  createComposite,
  publishComposite,
  publishWithChildren,
} from '../support/composites.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { askFor, groupOf, preview, publishing } from '../support/previews.ts';
import { cloneOf, DRAFT } from '../support/push-author.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';

const SECRET = 'parameters:\n  pw: {type: secureString}\n  port: {type: int, defaultValue: 1}\n';
const GOOD = `$schema: x\n${SECRET}resources: []\n`;
const BROKEN = `${GOOD}outputs: [\n`;
const SLIP = `${GOOD}resorces: []\n`;
const INCLUDING =
  '$schema: x\nresources:\n- {name: a, type: Microsoft.DSC/Include, properties: {configurationFile: ./part.yaml}}\n';

const only = (content: string | Buffer) => ({ files: { [MAIN]: content } });
const versionOf = (version: string) => `${versionsOf('web')}/${version}`;

interface Found {
  severity: string;
  code: string;
  file: string;
  line: number | null;
}

const told = (findings: readonly Found[]) =>
  findings.map(({ severity, code, file, line }) => `${severity} ${code} ${file} ${line}`);

describe('documents', function () {
  this.timeout(60_000);
  const hawser = startedForEach(startHawser);
  let node: NodeUnderTest;

  /** As a server is at first: the other tests let anything be published. */
  const setDefault = (defaultDocumentChecks: string) =>
    ok(200, hawser.admin.put('/api/v1/settings/validation', { defaultDocumentChecks }));
  const setOwn = (documentChecks: string | null) =>
    ok(200, hawser.admin.put(`${CONFIGURATIONS}/web/settings`, { documentChecks }));

  beforeEach(async () => {
    await setDefault('Strict');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: GOOD } });
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
  });

  const draft = (version: string, content: string | Buffer) =>
    ok(201, addVersion(hawser.admin, 'web', { version }, only(content)));
  const offered = async () =>
    (await node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`)).json.version;
  const read = (version: string) => ok(200, hawser.admin.get(versionOf(version)));
  const publishCheck = (version: string) => ok(200, hawser.admin.get(`${versionOf(version)}/publish-check`));

  describe('that dsc cannot read', () => {
    it('are stored as drafts byte for byte, and are not published: each finding has its place', async () => {
      const utf16 = Buffer.from(`\ufeff${GOOD}`, 'utf16le');
      await draft('1.1.0', utf16);
      const file = await hawser.admin.get(fileOf('web', '1.1.0', MAIN));
      expect(file.bytes.equals(utf16)).to.equal(true);
      const reply = await expectProblem(publish(hawser.admin, 'web', '1.1.0'), 409, 'document_unreadable');
      const { message, ...finding } = reply.json.errors[0];
      expect(message).to.include('UTF-16');
      const place = { path: null, file: MAIN, line: 1, column: 1 };
      expect(finding).to.deep.equal({ severity: 'Error', code: 'document_encoding', ...place });
      expect(await offered()).to.equal('1.0.0');
      const check = await publishCheck('1.1.0');
      expect(check).to.deep.include({ canPublish: false, compatibility: null });
      expect(check.blockers[0]).to.deep.include({ code: 'document_unreadable', errors: reply.json.errors });
      expect(check.findings).to.deep.equal(reply.json.errors);
      expect((await read('1.1.0')).findings).to.deep.equal(reply.json.errors);
    });

    it('can be mended in the draft, and then be published', async () => {
      await draft('1.1.0', BROKEN);
      const save = (content: string) =>
        ok(200, hawser.admin.call('PUT', fileOf('web', '1.1.0', MAIN), { body: Buffer.from(content) }));
      expect(told((await save('hello')).findings)).to.deep.equal([`Error document_shape ${MAIN} 1`]);
      expect((await save(GOOD)).findings).to.deep.equal([]);
      expect((await ok(200, publish(hawser.admin, 'web', '1.1.0'))).findings).to.deep.equal([]);
      expect(await offered()).to.equal('1.1.0');
    });

    it('are published as they are where the configuration says so, and say what is wrong', async () => {
      for (const [at, checks] of ['Warn', 'None'].entries()) {
        await setOwn(checks);
        const version = `1.1.${at}`;
        await draft(version, BROKEN);
        expect((await publishCheck(version)).canPublish).to.equal(true);
        const { findings } = await ok(200, publish(hawser.admin, 'web', version));
        expect(told(findings)).to.deep.equal([`Error document_syntax ${MAIN} 7`]);
        expect((await read(version)).findings).to.deep.equal(findings);
        expect(await offered()).to.equal(version);
      }
      await setOwn(null);
      await draft('1.2.0', BROKEN);
      await expectProblem(publish(hawser.admin, 'web', '1.2.0'), 409, 'document_unreadable');
      expect(await offered(), 'what is published stays').to.equal('1.1.1');
    });

    it("go by the server's setting where the configuration has none, or may have none", async () => {
      const settings = async () =>
        (await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web/settings`))).documentChecks;
      await setOwn('None');
      await ok(
        200,
        hawser.admin.put('/api/v1/settings/validation', { allowParameterValidationOverride: false }),
      );
      expect(await settings()).to.equal('Strict');
      const own = hawser.admin.put(`${CONFIGURATIONS}/web/settings`, { documentChecks: 'Warn' });
      await expectProblem(own, 409, 'override_not_allowed');
      await setDefault('Warn');
      expect(await settings()).to.equal('Warn');
    });
  });

  it('with warnings alone are published, and lists do not say what was found', async () => {
    await draft('1.1.0', SLIP);
    const wanted = [`Warning unknown_member ${MAIN} 6`];
    expect(await publishCheck('1.1.0')).to.deep.include({ canPublish: true, blockers: [] });
    const { findings } = await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    expect(told(findings)).to.deep.equal(wanted);
    for (const listed of await ok(200, hawser.admin.get(versionsOf('web'))))
      expect(listed.findings).to.equal(null);
  });

  it('that include a file which the version does not hold are told, until it does', async () => {
    await draft('1.1.0', INCLUDING);
    const missing = [`Warning include_missing ${MAIN} 3`];
    expect(told((await read('1.1.0')).findings)).to.deep.equal(missing);
    await ok(201, hawser.admin.call('PUT', fileOf('web', '1.1.0', 'part.yaml'), { body: Buffer.from(GOOD) }));
    expect((await read('1.1.0')).findings).to.deep.equal([]);
    await ok(204, hawser.admin.delete(fileOf('web', '1.1.0', 'part.yaml')));
    expect(told((await read('1.1.0')).findings)).to.deep.equal(missing);
    // The server puts this one there.
    const managed = INCLUDING.replace('configurationFile: ./part', 'parametersFile: parameters');
    await draft('1.2.0', managed);
    expect((await read('1.2.0')).findings).to.deep.equal([]);
  });

  describe('are checked without being stored', () => {
    const check = (content: string, type = 'application/yaml') =>
      hawser.admin.call('POST', `${CONFIGURATIONS}/web/check`, {
        body: Buffer.from(content),
        headers: { 'Content-Type': type },
      });

    it('as one document of any media type, of which no included files are looked for', async () => {
      const { findings } = await ok(200, check(BROKEN));
      expect(told(findings)).to.deep.equal([`Error document_syntax ${MAIN} 7`]);
      expect((await ok(200, check(INCLUDING, 'text/plain'))).findings).to.deep.equal([]);
      expect((await ok(200, check('{"$schema": "x", "resources": []}'))).findings).to.deep.equal([]);
      expect((await ok(200, hawser.admin.get(versionsOf('web')))).length).to.equal(1);
      await expectProblem(check('x'.repeat(4 * 2 ** 20 + 1)), 413, 'payload_too_large');
    });

    it('as the files of a version, whose entry point the form names', async () => {
      const form = (fields: Record<string, string>, files: Record<string, string>) =>
        hawser.admin.upload(`${CONFIGURATIONS}/web/check`, { fields, files });
      const { findings } = await ok(200, form({ entryPoint: 'a.yaml' }, { 'a.yaml': INCLUDING }));
      expect(told(findings)).to.deep.equal(['Warning include_missing a.yaml 3']);
      const files = { [MAIN]: INCLUDING, 'part.yaml': 'resources: [' };
      expect((await ok(200, form({}, files))).findings).to.deep.equal([]);
      await expectProblem(form({}, { 'a.yaml': GOOD }), 400, 'validation_failed: entry_point_missing');
    });
  });

  it('are told to whoever pushes them, and are not published by a tag', async () => {
    const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
    const author = await cloneOf(await gitClient(hawser), 'web', token);
    await author.commit({ [MAIN]: BROKEN });
    const pushed = await author.push(`HEAD:${DRAFT}/1.1.0`);
    expect(pushed.code, pushed.output).to.equal(0);
    expect(pushed.output).to.match(/hawser: error: main\.dsc\.yaml:7:\d+: .*\(document_syntax\)/);
    await author.ok('tag', '-a', 'v1.1.0', '-m', 'one');
    const refused = await author.push('v1.1.0');
    expect(refused.code).to.equal(1);
    expect(refused.output)
      .to.include('document_unreadable')
      .and.match(/hawser: error: main\.dsc\.yaml:7:/);
    expect((await read('1.1.0')).status).to.equal('Draft');
    await setOwn('Warn');
    expect((await author.push('v1.1.0')).output).to.match(/hawser: error: main\.dsc\.yaml:7:/);
    await setOwn('None');
    await author.commit({ [MAIN]: `${BROKEN}#` });
    await author.ok('tag', '-a', 'v1.1.1', '-m', 'two');
    const silent = await author.push('v1.1.1');
    expect(silent.output).to.include('is published').and.not.include('main.dsc.yaml');
  });

  it('are told by a preview, for each version that it publishes, and block it', async () => {
    await draft('1.1.0', SLIP);
    await draft('1.2.0', BROKEN);
    const { findings } = await preview(hawser.admin, [publishing('web', '1.1.0')]);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.deep.include({ configurationName: 'web', compositeName: null, version: '1.1.0' });
    expect(told(findings[0].findings)).to.deep.equal([`Warning unknown_member ${MAIN} 6`]);
    const reply = await expectProblem(
      askFor(hawser.admin, [publishing('web', '1.2.0')]),
      409,
      'document_unreadable',
    );
    expect(reply.json.errors[0].path).to.equal('/changes/0');
  });

  describe('whose parameters are unknown', () => {
    const SCHEMA = `${CONFIGURATIONS}/web/parameters`;

    beforeEach(async () => {
      await saveParameters(hawser, {
        configuration: 'web',
        content: 'parameters: {pw: hidden-1, port: 4711}\n',
      });
      await setOwn('Warn');
      await draft('1.1.0', BROKEN);
      await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    });

    it('have no schema, and files are neither checked nor published by one', async () => {
      await expectProblem(hawser.admin.get(`${SCHEMA}?version=1.1.0`), 404, 'schema_unknown');
      await expectProblem(hawser.admin.get(`${SCHEMA}?optional=true`), 404, 'schema_unknown');
      const validate = hawser.admin.call('POST', `${SCHEMA}/validate`, {
        body: Buffer.from('parameters: {}\n'),
        headers: { 'Content-Type': 'application/yaml' },
      });
      await expectProblem(validate, 409, 'schema_unknown');
      const path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
      const content = 'parameters: {nothing: 1}\n';
      await ok(201, hawser.admin.put(path, { version: '1.1.0', content }));
      await expectProblem(hawser.admin.put(`${path}/versions/1.1.0/publish`), 409, 'schema_unknown');
      await ok(200, hawser.admin.put(`${CONFIGURATIONS}/web/settings`, { parameterValidationMode: 'Warn' }));
      await ok(200, hawser.admin.put(`${path}/versions/1.1.0/publish`));
      expect(await pullParameters(node)).to.equal('parameters:\n  nothing: 1\n');
    });

    it('show no value, to whoever looks and in no preview', async () => {
      const path = `/api/v1/nodes/${node.nodeId}/parameters/provenance`;
      const id = await configurationId(hawser.admin, 'web');
      const { text } = await hawser.admin.get(`${path}?configurationId=${id}`);
      const change = { kind: 'Unassign', nodeIds: [node.nodeId] };
      const { id: previewId } = await preview(hawser.admin, [change], [node.nodeId]);
      const group = JSON.stringify(await groupOf(hawser.admin, { id: previewId }, '1'));
      for (const each of [text, group, hawser.log()])
        expect(each).to.not.include('hidden-1').and.not.include('4711');
      expect(text).to.include('<redacted>');
    });

    it('are compared with no other version, and the next is compared with the nearest that can be read', async () => {
      expect((await publishCheck('1.1.0')).compatibility).to.equal(null);
      await draft('1.2.0', '$schema: x\nresources: []\n');
      const reply = await expectProblem(
        publish(hawser.admin, 'web', '1.2.0'),
        409,
        'incompatible_parameters',
      );
      expect(reply.json.compatibilityReport.oldVersion).to.equal('1.0.0');
    });
  });

  describe('of children of composites', () => {
    const included = ['Error include_in_child part/main.dsc.yaml 3'];

    beforeEach(async () => {
      await ok(201, create(hawser.admin, 'part', { version: '1.0.0' }, only(INCLUDING)));
      await ok(200, publish(hawser.admin, 'part', '1.0.0'));
    });

    it('may include no file by a relative path, unless the server lets them', async () => {
      await ok(201, createComposite(hawser.admin, 'all'));
      await ok(201, addCompositeDraft(hawser.admin, 'all', '1.0.0'));
      await ok(201, addChild(hawser.admin, 'all', '1.0.0', 'part'));
      await expectProblem(publishComposite(hawser.admin, 'all', '1.0.0'), 409, 'document_unreadable');
      const path = compositeVersionOf('all', '1.0.0');
      const check = await ok(200, hawser.admin.get(`${path}/publish-check`));
      expect(check.canPublish).to.equal(false);
      expect(told(check.findings)).to.deep.equal(included);
      expect(told((await ok(200, hawser.admin.get(path))).findings)).to.deep.equal(included);
      await setDefault('Warn');
      expect(told((await ok(200, publishComposite(hawser.admin, 'all', '1.0.0'))).findings)).to.deep.equal(
        included,
      );
    });

    it('are warned of when a composite follows them', async () => {
      await publishWithChildren(hawser.admin, 'all', '1.0.0', ['web']);
      await draft('1.1.0', INCLUDING);
      const warned = [`Warning include_in_child ${MAIN} 3`, `Warning include_missing ${MAIN} 3`];
      expect(told((await publishCheck('1.1.0')).findings).sort()).to.deep.equal(warned);
      // Whom nobody follows need not be warned.
      await ok(201, addVersion(hawser.admin, 'part', { version: '1.1.0' }, only(INCLUDING)));
      const { findings } = await ok(200, publish(hawser.admin, 'part', '1.1.0'));
      expect(told(findings)).to.deep.equal(['Warning include_missing main.dsc.yaml 3']);
    });
  });
});
