// everyday: SQLite; full: PostgreSQL
/** Change sets that the server proposes: secrets in the clear are encrypted, and those of an older key by the newest one. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newKeyLine, secretKey } from '../../src/lib/sealed-text.ts';
import { SETS, setOf } from '../support/change-sets.ts';
import { signedInCli } from '../support/cli-session.ts';
import type { Client } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { uploadSchema } from '../support/parameter-schemas.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const CANARY = 'Canary-in-the-clear';
const ENC = /ENC\[([0-9a-f]{16}),[A-Za-z0-9+/=]+\]/g;
const TYPES = { pw: 'secureString', creds: 'secureObject', port: 'int', list: 'array' };
const DECLARED = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { type }]));

interface ShownSet {
  id: number;
  digest: string;
  title: string;
  description: string | null;
  deeds: { kind: string; configurationName: string; scopeValue: string | null; version: string }[];
}

describe('change sets that encrypt secrets', () => {
  const hawser = started(startHawser);
  let environment: string;
  let node: NodeUnderTest;
  let names = 0;

  before(async () => {
    environment = await createScopeType(hawser, 'Environment');
  });

  /** A configuration whose parameters are called secure only once `declare` is called. */
  async function prepare(): Promise<{ name: string; declare(): Promise<void> }> {
    names += 1;
    const name = `shop-${names}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    return {
      name,
      declare: async () => void (await ok(200, uploadSchema(hawser.admin, name, '1.0.0', DECLARED))),
    };
  }
  const save = (configuration: string, content: string, more: object = {}) =>
    saveParameters(hawser, { configuration, content, ...more });
  const inProd = { scopeType: 'Environment', value: 'prod' };
  const propose = (what: 'seal' | 'rekey', configurationName: string, client: Client = hawser.admin) =>
    client.post(`${SETS}/${what}`, { configurationName });
  const apply = ({ id, digest }: ShownSet) =>
    ok(200, hawser.admin.post(`${setOf({ id })}/apply`, { digest }));
  const fileOf = async (name: string, version: string, { type = DEFAULT_ID, value = '' } = {}) => {
    const path = `/api/v1/parameters/${type}/${await configurationId(hawser.admin, name)}/versions/${version}`;
    return ok(200, hawser.admin.get(`${path}${value === '' ? '' : `?scopeValue=${value}`}`));
  };
  const contentOf = async (...file: Parameters<typeof fileOf>): Promise<string> =>
    (await fileOf(...file)).content;
  const versionsIn = ({ deeds }: ShownSet) =>
    deeds.map(({ kind, scopeValue, version }) => `${kind} ${scopeValue ?? 'Default'} ${version}`);
  const keyFile = () => join(hawser.dataDir, 'secrets.key');
  const idsIn = (content: string) => [...new Set([...content.matchAll(ENC)].map(([, id]) => id))];

  /** Puts a new key before the others. @returns its id */
  async function rotate(): Promise<string | undefined> {
    const line = newKeyLine();
    writeFileSync(keyFile(), `${line}\n${readFileSync(keyFile(), 'utf8')}`);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    return secretKey(Buffer.from(line, 'base64')).id;
  }

  it('which stand in the clear publish the newest files anew as the next free patch, and nothing else of them changes', async () => {
    const { name, declare } = await prepare();
    const valueId = await createScopeValue(hawser, environment, 'prod');
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, name);
    await tagNode(hawser, node.nodeId, valueId);
    const text = (pw: string) => `# ours\nparameters:\n  pw: ${pw}   # old\n  port: 80\n`;
    await save(name, text('older'));
    await save(name, text(CANARY), { version: '1.1.0' });
    await save(name, 'parameters: {port: 7}\n', { version: '1.1.1', publish: false });
    await save(name, text('of-another-major'), { version: '2.0.0' });
    await save(name, `parameters: {creds: {user: ${CANARY}, key: 7}}\n`, inProd);
    const got = await pullParameters(node);
    await declare();
    const before = (await ok(200, poll(node))).checksum;
    const reply = await propose('seal', name);
    const set: ShownSet = await ok(201, reply);
    expect(reply.headers['location']).to.equal(setOf(set));
    expect(reply.text).to.not.include(CANARY);
    expect(set).to.deep.include({ state: 'Open', createdBy: 'admin', description: null });
    expect(versionsIn(set)).to.deep.equal([
      ...[
        'PublishParameters Default 2.0.1',
        'PublishParameters Default 1.1.2',
        'PublishParameters prod 1.0.1',
      ],
    ]);
    expect((await ok(200, poll(node))).checksum, 'only proposed').to.equal(before);
    await apply(set);
    const kept = await contentOf(name, '1.1.2');
    expect(kept.replace(/"ENC\[[^\]]*\]"/g, CANARY)).to.equal(text(CANARY));
    const prod = await contentOf(name, '1.0.1', { type: environment, value: 'prod' });
    expect(prod.replace(/"ENC\[[^\]]*\]"/g, '*')).to.equal('parameters: {creds: {user: *, key: *}}\n');
    expect(await pullParameters(node)).to.equal(got);
    expect((await ok(200, poll(node))).checksum).to.not.equal(before);
    await ok(204, propose('seal', name));
    expect(hawser.log()).to.not.include(CANARY);
  });

  it('of an older key change no checksum, and the older key may go then', async () => {
    const { name, declare } = await prepare();
    await declare();
    await assign(hawser, node, name);
    await save(name, `parameters:\n  pw: ${CANARY}\n  port: 80\n`);
    const { text } = await ok(
      200,
      hawser.admin.post(
        `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, name)}/encrypt`,
        {
          ...{ scopeValue: null, path: '/parameters/list/0', value: CANARY },
        },
      ),
    );
    await save(name, `{"parameters":{"pw":"${CANARY}","list":["${text}"]}}`, {
      ...{ version: '2.0.0', contentType: 'application/json' },
    });
    const [checksum, got] = [(await ok(200, poll(node))).checksum, await pullParameters(node)];
    await ok(204, propose('rekey', name));
    const id = await rotate();
    const set: ShownSet = await ok(201, propose('rekey', name));
    expect(versionsIn(set)).to.deep.equal([
      ...['PublishParameters Default 2.0.1', 'PublishParameters Default 1.0.1'],
    ]);
    const [first] = versionsIn(await ok(201, propose('rekey', name)));
    expect(first, 'the drafts of before are named again').to.equal(versionsIn(set)[0]);
    await apply(set);
    for (const version of ['1.0.1', '2.0.1'])
      expect(idsIn(await contentOf(name, version))).to.deep.equal([id]);
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
    await ok(204, propose('rekey', name));
    writeFileSync(keyFile(), `${readFileSync(keyFile(), 'utf8').split('\n')[0]}\n`);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
    expect(await pullParameters(node)).to.equal(got);
  });

  it('are made with hawserctl, of one configuration or of all', async () => {
    const { name, declare } = await prepare();
    await save(name, `parameters: {pw: ${CANARY}}\n`);
    await declare();
    const cli = await signedInCli(hawser);
    try {
      const run = async (...words: string[]) => {
        const { code, stdout, stderr } = await cli.run(['secret', ...words]);
        expect(code, stderr).to.equal(0);
        expect(stdout + stderr).to.not.include(CANARY);
        return stdout + stderr;
      };
      const told = await run('seal');
      expect(told).to.match(
        /^Change set (\d+) publishes 1 parameter file anew: Encrypt secrets that stand in the clear\.\n/,
      );
      const [, id = ''] = /set (\d+)/.exec(told) ?? [];
      await apply(await ok(200, hawser.admin.get(setOf({ id: Number(id) }))));
      expect(await run('seal', '--configuration', name)).to.equal('Nothing is left to do.\n');
      expect(await run('seal', '--json')).to.match(/^null\n/);
      await rotate();
      expect(await run('rekey', '--configuration', name)).to.match(
        new RegExp(
          `^Change set \\d+ publishes 1 parameter file anew: Encrypt secrets by the newest key: ${name}\\.\n`,
        ),
      );
    } finally {
      cli.close();
    }
  });

  it('need Modify: on all parameters of what is named, else those that the caller may are taken', async () => {
    const { name, declare } = await prepare();
    await save(name, `parameters: {pw: ${CANARY}}\n`);
    await save(name, `parameters: {pw: ${CANARY}}\n`, inProd);
    await declare();
    const grants = (level: 'Read' | 'Modify') => [
      { on: 'configuration', name, level: 'Read' } as const,
      { on: 'parameters', name, level } as const,
    ];
    const stranger = await makeUser(hawser, { username: 'stranger', permissions: ['nodes.read'] });
    await expectProblem(propose('seal', name, stranger), 404, 'not_found');
    await expectProblem(propose('seal', 'no-such'), 404, 'not_found');
    await expectProblem(hawser.admin.post(`${SETS}/seal`, { configuration: name }), 400, 'validation_failed');
    await ok(204, stranger.post(`${SETS}/seal`, {}));
    const reader = await makeUser(hawser, { username: 'reader', permissions: [], grants: grants('Read') });
    await expectProblem(propose('seal', name, reader), 403, 'forbidden');
    await ok(204, reader.post(`${SETS}/seal`, {}));
    const writer = await makeUser(hawser, { username: 'writer', permissions: [], grants: grants('Modify') });
    const values = await ok(200, hawser.admin.get(`/api/v1/scope-types/${environment}/values`));
    const restricted = { scopeTypeId: environment, scopeValueId: values[0].id, restricted: true };
    await ok(
      204,
      hawser.admin.put(`/api/v1/configurations/${name}/parameters/permissions`, {
        ...{ principalType: 'User', principalId: reader.userId, level: 'Manage', ...restricted },
      }),
    );
    await expectProblem(propose('seal', name, writer), 403, 'forbidden');
    const set: ShownSet = await ok(201, writer.post(`${SETS}/seal`, {}));
    expect(versionsIn(set), 'prod is restricted').to.deep.equal(['PublishParameters Default 1.0.1']);
    const limited = await writer.withToken('nodes.read');
    await expectProblem(propose('seal', name, limited), 404, 'not_found');
    await ok(204, limited.post(`${SETS}/seal`, {}));
  });

  it('leave out what cannot be published as it is, say so, and refuse where nothing else is left', async () => {
    const { name, declare } = await prepare();
    await save(name, `parameters: {pw: ${CANARY}}\n`);
    await save(name, `parameters:\n  pw: &a ${CANARY}\n`, inProd);
    await declare();
    const set: ShownSet = await ok(201, propose('seal', name));
    expect(versionsIn(set)).to.deep.equal(['PublishParameters Default 1.0.1']);
    expect(set.description).to.match(
      /^Left out, .*:\n- shop-\d+ Environment\/prod 1\.0\.0: Some secrets cannot/,
    );
    await apply(set);
    const { json, text } = await expectProblem(propose('seal', name), 409, 'not_possible');
    expect(json.errors.map(({ code }: { code: string }) => code)).to.deep.equal(['validation_failed']);
    expect(text).to.not.include(CANARY);
    const other = await prepare();
    await save(other.name, `parameters: {pw: ${CANARY}}\n`);
    await other.declare();
    const all: ShownSet = await ok(201, hawser.admin.post(`${SETS}/seal`));
    expect(all.description, 'who reads a set may not know of all configurations').to.match(
      /^1 file is left out, [^:]*\.$/,
    );
  });

  it('change nothing for the nodes of other channels', async () => {
    const { name, declare } = await prepare();
    await save(name, `parameters: {pw: ${CANARY}}\n`);
    await save(name, `parameters: {pw: ${CANARY}-rc}\n`, { version: '1.1.0-rc.1' });
    await declare();
    await assign(hawser, node, name);
    const tester = await hawser.registerNode('web-02.example.org');
    await assign(hawser, tester, name, { prereleaseChannel: 'rc' });
    const got = [await pullParameters(node), await pullParameters(tester)];
    const set: ShownSet = await ok(201, propose('seal', name));
    expect(versionsIn(set)).to.deep.equal([
      ...['PublishParameters Default 1.1.0-rc.1.1', 'PublishParameters Default 1.0.1'],
    ]);
    await apply(set);
    expect([await pullParameters(node), await pullParameters(tester)]).to.deep.equal(got);
    await save(name, 'parameters: {port: 1}\n', { version: '1.0.2-rc.1' });
    await rotate();
    const next: ShownSet = await ok(201, propose('rekey', name));
    expect(versionsIn(next)).to.deep.equal([
      ...['PublishParameters Default 1.1.0-rc.1.1.1', 'PublishParameters Default 1.0.2'],
    ]);
    const other = await prepare();
    await save(other.name, `parameters: {pw: ${CANARY}}\n`);
    await save(other.name, 'parameters: {port: 1}\n', { version: '1.0.1-rc.1' });
    await other.declare();
    const { json } = await expectProblem(propose('seal', other.name), 409, 'not_possible');
    expect(json.detail, 'the next patch would go past the prerelease').to.include('below 1.0.1-rc.1');
  });

  it('give a node nothing of one that was deleted before it', async () => {
    const { name, declare } = await prepare();
    const fqdn = 'again.example.org';
    const ofNode = { scopeType: 'Node', value: fqdn };
    const first = await hawser.registerNode(fqdn);
    await save(name, `parameters: {pw: ${CANARY}-of-the-first}\n`, ofNode);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${first.nodeId}`));
    await declare();
    await ok(204, propose('seal', name));
    const second = await hawser.registerNode(fqdn);
    await assign(hawser, second, name);
    await ok(204, propose('seal', name));
    expect(await pullParameters(second)).to.equal(null);
  });

  it('are discarded and taken back as any other', async () => {
    const { name, declare } = await prepare();
    await save(name, `parameters: {pw: ${CANARY}}\n`);
    await declare();
    await assign(hawser, node, name);
    const before = (await ok(200, poll(node))).checksum;
    const set: ShownSet = await ok(201, propose('seal', name));
    await apply(set);
    const back: ShownSet = await ok(201, hawser.admin.post(`${setOf(set)}/revert`));
    await apply(back);
    expect((await ok(200, poll(node))).checksum).to.equal(before);
    const again: ShownSet = await ok(201, propose('seal', name));
    expect(versionsIn(again), 'a withdrawn version is not free').to.deep.equal([
      'PublishParameters Default 1.0.2',
    ]);
    await ok(204, hawser.admin.delete(setOf(again)));
    expect((await ok(200, hawser.admin.get(setOf(again)))).state).to.equal('Discarded');
  });
});
