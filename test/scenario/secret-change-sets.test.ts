// everyday: SQLite; full: PostgreSQL
/** Change sets that the server proposes: secrets in the clear are encrypted, and those of an older key by the newest one. */

import { expect } from 'chai';
import { setOf } from '../support/change-sets.ts';
import { signedInCli } from '../support/cli-session.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import {
  CANARY,
  IN_PROD,
  OldSecrets,
  proposeAnew,
  type ShownSet,
  versionsIn,
} from '../support/old-secrets.ts';
import { assign, configurationId, poll, pullParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const ENC = /ENC\[([0-9a-f]{16}),[A-Za-z0-9+/=]+\]/g;
const idsIn = (content: string) => [...new Set([...content.matchAll(ENC)].map(([, id]) => id))];

describe('change sets that encrypt secrets', () => {
  const hawser = started(startHawser);
  let old: OldSecrets;
  let environment: string;
  let node: NodeUnderTest;

  before(async () => {
    old = new OldSecrets(hawser);
    environment = await createScopeType(hawser, 'Environment');
  });

  it('which stand in the clear publish the newest files anew as the next free patch, and nothing else of them changes', async () => {
    const { name, declare } = await old.prepare();
    const valueId = await createScopeValue(hawser, environment, 'prod');
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, name);
    await tagNode(hawser, node.nodeId, valueId);
    const text = (pw: string) => `# ours\nparameters:\n  pw: ${pw}   # old\n  port: 80\n`;
    await old.save(name, text('older'));
    await old.save(name, text(CANARY), { version: '1.1.0' });
    await old.save(name, 'parameters: {port: 7}\n', { version: '1.1.1', publish: false });
    await old.save(name, text('of-another-major'), { version: '2.0.0' });
    await old.save(name, `parameters: {creds: {user: ${CANARY}, key: 7}}\n`, IN_PROD);
    const got = await pullParameters(node);
    await declare();
    const before = (await ok(200, poll(node))).checksum;
    const reply = await proposeAnew(hawser.admin, 'seal', name);
    const set: ShownSet = await ok(201, reply);
    expect(reply.headers['location']).to.equal(setOf(set));
    expect(reply.text).to.not.include(CANARY);
    expect(set).to.deep.include({ state: 'Open', createdBy: 'admin', description: null });
    expect(versionsIn(set)).to.deep.equal([...['Default 2.0.1', 'Default 1.1.2', 'prod 1.0.1']]);
    expect((await ok(200, poll(node))).checksum, 'only proposed').to.equal(before);
    await old.apply(set);
    const kept = await old.contentOf(name, '1.1.2');
    expect(kept.replace(/"ENC\[[^\]]*\]"/g, CANARY)).to.equal(text(CANARY));
    const prod = await old.contentOf(name, '1.0.1', { type: environment, value: 'prod' });
    expect(prod.replace(/"ENC\[[^\]]*\]"/g, '*')).to.equal('parameters: {creds: {user: *, key: *}}\n');
    expect(await pullParameters(node)).to.equal(got);
    expect((await ok(200, poll(node))).checksum).to.not.equal(before);
    await ok(204, proposeAnew(hawser.admin, 'seal', name));
    expect(hawser.log()).to.not.include(CANARY);
  });

  it('of an older key change no checksum, and the older key may go then', async () => {
    const { name, declare } = await old.prepare();
    await declare();
    await assign(hawser, node, name);
    await old.save(name, `parameters:\n  pw: ${CANARY}\n  port: 80\n`);
    const { text } = await ok(
      200,
      hawser.admin.post(
        `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, name)}/encrypt`,
        {
          ...{ scopeValue: null, path: '/parameters/list/0', value: CANARY },
        },
      ),
    );
    await old.save(name, `{"parameters":{"pw":"${CANARY}","list":["${text}"]}}`, {
      ...{ version: '2.0.0', contentType: 'application/json' },
    });
    const [checksum, got] = [(await ok(200, poll(node))).checksum, await pullParameters(node)];
    await ok(204, proposeAnew(hawser.admin, 'rekey', name));
    const id = await old.rotate();
    const set: ShownSet = await ok(201, proposeAnew(hawser.admin, 'rekey', name));
    expect(versionsIn(set)).to.deep.equal([...['Default 2.0.1', 'Default 1.0.1']]);
    const [first] = versionsIn(await ok(201, proposeAnew(hawser.admin, 'rekey', name)));
    expect(first, 'the drafts of before are named again').to.equal(versionsIn(set)[0]);
    await old.apply(set);
    for (const version of ['1.0.1', '2.0.1'])
      expect(idsIn(await old.contentOf(name, version))).to.deep.equal([id]);
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
    await ok(204, proposeAnew(hawser.admin, 'rekey', name));
    await old.writeKeys((keys) => `${keys.split('\n')[0]}\n`);
    expect((await ok(200, poll(node))).checksum).to.equal(checksum);
    expect(await pullParameters(node)).to.equal(got);
  });

  it('are made with hawserctl, of one configuration or of all', async () => {
    const { name, declare } = await old.prepare();
    await old.save(name, `parameters: {pw: ${CANARY}}\n`);
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
      await old.apply(await ok(200, hawser.admin.get(setOf({ id: Number(id) }))));
      expect(await run('seal', '--configuration', name)).to.equal('Nothing is left to do.\n');
      expect(await run('seal', '--json')).to.match(/^null\n/);
      await old.rotate();
      expect(await run('rekey', '--configuration', name)).to.match(
        new RegExp(
          `^Change set \\d+ publishes 1 parameter file anew: Encrypt secrets by the newest key: ${name}\\.\n`,
        ),
      );
    } finally {
      cli.close();
    }
  });
});
