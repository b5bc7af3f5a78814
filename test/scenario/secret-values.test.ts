// everyday: SQLite; full: PostgreSQL
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { GRANT_RULES } from '../../src/domain/permissions.ts';
import { open, secretKey } from '../../src/lib/sealed-text.ts';
import { auditEntries } from '../support/audit.ts';
import { signedInCli } from '../support/cli-session.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createToken, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  assign,
  configurationId,
  configurationPath,
  poll,
  pullParameters,
  saveParameters,
} from '../support/parameter-files.ts';
import { validated } from '../support/parameter-schemas.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const entryPoint = (types: string) => ({ [MAIN]: `$schema: x\nparameters: {${types}}\nresources: []\n` });
const TYPES =
  'pw: {type: secureString, minLength: 3, maxLength: 40}, creds: {type: secureObject, defaultValue: {}}, port: {type: int, defaultValue: 1}';
const CANARY = 'Canary-of-a-password';
const ENC = /ENC\[[0-9a-f]{16},[A-Za-z0-9+/=]+\]/;

describe('secret values of parameters', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let series: string;
  let id: string;
  let teller: Person;

  before(async () => {
    await publishConfiguration(hawser.admin, 'shop', { '1.0.0': entryPoint(TYPES) });
    id = await configurationId(hawser.admin, 'shop');
    series = `/api/v1/parameters/${DEFAULT_ID}/${id}`;
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'shop');
    await saveParameters(hawser, {
      configuration: 'shop',
      content: `# ours\nparameters:\n  pw: ${CANARY}   # old\n  creds: {list: [1.50, ${CANARY}]}\n  port: 80\n`,
    });
    teller = await makeUser(hawser, {
      username: 'teller',
      permissions: ['nodes.read', 'secrets.reveal'],
      grants: [
        { on: 'configuration', name: 'shop', level: 'Read' },
        { on: 'parameters', name: 'shop', level: 'Read' },
      ],
    });
  });

  const contentOf = async (version: string): Promise<string> =>
    (await ok(200, hawser.admin.get(`${series}/versions/${version}`))).content;

  it('are stored encrypted, reach the node in the clear, and change no other byte', async () => {
    const content = await contentOf('1.0.0');
    const key = secretKey(Buffer.from(readFileSync(join(hawser.dataDir, 'secrets.key'), 'utf8'), 'base64'));
    const [text = ''] = ENC.exec(content) ?? [];
    const place = { configurationId: id, scopeTypeId: DEFAULT_ID, ownerId: '', pointer: '/parameters/pw' };
    expect(open(key, place, text).reveal()).to.equal(JSON.stringify(CANARY));
    expect(content.replaceAll(new RegExp(`"${ENC.source}"`, 'g'), '*')).to.equal(
      '# ours\nparameters:\n  pw: *   # old\n  creds: {list: *}\n  port: 80\n',
    );
    expect(await pullParameters(node)).to.equal(
      `parameters:\n  pw: ${CANARY}\n  creds:\n    list:\n      - 1.50\n      - ${CANARY}\n  port: 80\n`,
    );
    expect(hawser.log()).to.not.include(CANARY);
  });

  it('keep their text where they stay the same, and the checksum says so', async () => {
    const before = await ok(200, poll(node));
    const content = await contentOf('1.0.0');
    await saveParameters(hawser, {
      configuration: 'shop',
      version: '1.0.1',
      content: content.replace(/pw: "ENC[^"]*"/, `pw: ${CANARY}`),
    });
    expect((await contentOf('1.0.1')).match(new RegExp(ENC, 'g'))).to.deep.equal(
      content.match(new RegExp(ENC, 'g')),
    );
    expect((await ok(200, poll(node))).checksum).to.equal(before.checksum);
  });

  it('are shown to nobody else: redacted, and no bundle of them for people without the right', async () => {
    const shown = await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}/parameters/provenance`));
    expect(JSON.stringify(shown)).to.not.include(CANARY).and.to.not.include('ENC[');
    expect(shown.provenance['/parameters/pw'].value).to.equal('<redacted>');
    const bundle = `${configurationPath(node)}/bundle`;
    await expectProblem(hawser.admin.get(bundle), 403, 'secrets_in_bundle');
    const { checksum } = await ok(200, hawser.admin.get(`${configurationPath(node)}/checksum`));
    const known = { 'If-None-Match': `"${checksum}"` };
    await expectProblem(hawser.admin.get(bundle, known), 403, 'secrets_in_bundle');
    const manifest = await ok(200, hawser.admin.get(`/api/v1/manifests/${checksum}`));
    expect(manifest.bundleDigest).to.equal(null);
    expect((await teller.get(bundle)).status).to.equal(200);
  });

  it('are revealed one by one with a reason, and each is noted', async () => {
    const reveal = `${series}/versions/1.0.1/reveal`;
    const reason = 'the database moves';
    expect(
      (await ok(200, teller.post(reveal, { path: '/parameters/creds/list', reason }))).value,
    ).to.deep.equal([1.5, CANARY]);
    await expectProblem(hawser.admin.post(reveal, { path: '/parameters/pw', reason }), 403, 'forbidden');
    await expectProblem(teller.post(reveal, { path: '/parameters/port', reason }), 404, 'not_found');
    await expectProblem(
      teller.post(reveal, { path: '/parameters/pw', reason: '' }),
      400,
      'validation_failed',
    );
    const [entry] = (await auditEntries(hawser, 'action=secret.revealed')).filter(
      ({ details }) => details?.['path'] !== undefined,
    );
    expect(entry?.details).to.include({ path: '/parameters/creds/list', reason, version: '1.0.1' });
  });

  it('are not found fault with by the check of a text, which opens none', async () => {
    const text = (await contentOf('1.0.0')).replace('creds:', 'unknown:');
    const verdict = await validated(hawser.admin, 'shop', text, '?version=1.0.0&partial=true');
    expect(verdict.errors.map(({ path }) => path)).to.deep.equal(['/parameters/unknown']);
  });

  it('are bounded to 30 an hour for a user', async () => {
    const reveal = `${series}/versions/1.0.1/reveal`;
    const eager = await makeUser(hawser, {
      username: 'eager',
      permissions: ['secrets.reveal'],
      grants: [{ on: 'parameters', name: 'shop', level: 'Read' }],
    });
    const body = { path: '/parameters/pw', reason: 'x' };
    const replies = await Promise.all(Array.from({ length: 33 }, () => eager.post(reveal, body)));
    expect(replies.filter(({ status }) => status === 200).length).to.equal(30);
    const refused = await expectProblem(eager.post(reveal, body), 429, 'rate_limited');
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 3600);
  });

  it('may be encrypted for a file that is pushed, and open at their place alone', async () => {
    const wanted = { scopeValue: null, path: '/parameters/pw', value: 'abc' };
    const { text } = await ok(200, hawser.admin.post(`${series}/encrypt`, wanted));
    const save = (content: string) => hawser.admin.put(series, { version: '1.5.0', content });
    await ok(201, save(`parameters: {pw: "${text}"}\n`));
    await expectProblem(
      save(`parameters: {creds: {k: "${text}"}}\n`),
      400,
      'secret_unreadable: secret_unreadable',
    );
    const short = await ok(200, hawser.admin.post(`${series}/encrypt`, { ...wanted, value: 'ab' }));
    await expectProblem(save(`parameters: {pw: "${short.text}"}\n`), 400, 'validation_failed: min_length');
    for (const bad of [{ path: '/pw' }, { value: { a: 1 } }, { value: 2 ** 53 }, { scopeValue: 'x' }])
      await expectProblem(
        hawser.admin.post(`${series}/encrypt`, { ...wanted, ...bad }),
        400,
        'validation_failed',
      );
  });

  it('take no alias, and no error has the value', async () => {
    const save = (content: string) => hawser.admin.put(series, { version: '1.6.0', content });
    for (const content of [
      `parameters:\n  pw: &a ${CANARY}\n`,
      'parameters: {creds: {a: .inf}}\n',
      'parameters:\n  creds: {k: 0755}\n',
      `parameters:\n  pw: "${CANARY}\n`,
      `parameters:\n  pw: *${CANARY}\n`,
      `parameters:\n  pw: !${CANARY} x\n`,
    ]) {
      const reply = await expectProblem(save(content), 400, 'validation_failed');
      expect(reply.text).to.not.include(CANARY).and.to.not.include('0755');
    }
  });

  it('that a later schema makes of a parameter are not published in the clear', async () => {
    await publishConfiguration(hawser.admin, 'late', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const late = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'late')}`;
    const draft = { version: '2.0.0', content: 'parameters: {note: open-words}\n' };
    const content = async () => (await ok(200, hawser.admin.get(`${late}/versions/2.0.0`))).content;
    await ok(201, hawser.admin.put(late, draft));
    expect(await content()).to.include('open-words');
    const files = entryPoint("note: {type: secureString, defaultValue: ''}");
    await ok(201, addVersion(hawser.admin, 'late', { version: '2.0.0' }, { files }));
    await ok(200, hawser.admin.put('/api/v1/configurations/late/versions/2.0.0/publish'));
    const publish = () => hawser.admin.put(`${late}/versions/2.0.0/publish`);
    const refused = await expectProblem(publish(), 409, 'secret_in_clear');
    expect(refused.json.paths).to.deep.equal(['/parameters/note']);
    expect(refused.text).to.not.include('open-words');
    await ok(200, hawser.admin.put(late, draft));
    await ok(200, publish());
    expect(await content()).to.not.include('open-words');
  });

  // Repositories are folders there, which stock git can write to.
  itOnSqlite(
    'of a tag that stock git copies to another configuration do not open there, from memory neither',
    async () => {
      await publishConfiguration(hawser.admin, 'thief', { '1.0.0': entryPoint(TYPES) });
      await saveParameters(hawser, { configuration: 'thief', content: 'parameters: {port: 1, pw: abcd}\n' });
      const other = await hawser.registerNode('web-02.example.org');
      await assign(hawser, other, 'thief');
      await ok(200, poll(node));
      await ok(200, poll(other));
      const gitdir = (name: string) => join(hawser.reposDir, 'parameters', `${name}.git`);
      const git = (name: string, ...words: string[]) =>
        execFileSync('git', ['--git-dir', gitdir(name), ...words], { encoding: 'utf8' }).trim();
      git('thief', 'fetch', '-q', gitdir('shop'), 'refs/tags/Default/v1.0.1:refs/tags/Default/v1.0.1');
      await eventually(async () => {
        await expectProblem(poll(other), 409, 'secret_unreadable');
      });
      await ok(200, poll(node));
    },
  );

  it('are encrypted and seen with hawserctl, which takes no value as an argument', async () => {
    const cli = await signedInCli(hawser);
    try {
      const scope = ['--scope', 'Default', '--path', '/parameters/pw'];
      const made = await cli.run(['secret', 'encrypt', 'shop', ...scope, '-f', '-'], { stdin: 'typed\n' });
      expect(made.stdout, made.stderr).to.match(new RegExp(`^${ENC.source}\n$`));
      const words = ['secret', 'reveal', 'shop', ...scope, '--version', '1.0.1', '--reason', 'x'];
      expect((await cli.run(words)).stderr).to.include('secrets.reveal');
      const set = ['param', 'set', 'shop', '--scope', 'Default', '--version', '1.9.0', '--secret'];
      const saved = await cli.run([...set, 'pw', '-f', '-'], { stdin: `${CANARY}-set\n` });
      expect(saved.code, saved.stderr).to.equal(0);
      expect(saved.stdout + saved.stderr).to.not.include(CANARY);
      const after = await contentOf('1.9.0');
      expect(after).to.not.include(CANARY);
      const others = (text: string) => text.replace(/pw: "ENC[^"]*"/, 'pw: *');
      expect(others(after), 'all else stays, encrypted texts too').to.equal(others(await contentOf('1.0.1')));
      const env = {
        HAWSER_TOKEN: await createToken(hawser.client(), teller.session, [
          ...['secrets.reveal', GRANT_RULES.configuration.scope, GRANT_RULES.parameters.scope],
        ]),
      };
      const revealed = await cli.run(
        ['secret', 'reveal', 'shop', ...scope, '--version', '1.9.0', '--reason', 'to see that it was set'],
        { env },
      );
      expect(revealed.stdout, revealed.stderr).to.equal(`${CANARY}-set\n`);
      await ok(200, hawser.admin.put(series, { version: '1.9.0', content: 'parameters:\n  port: 1\n' }));
      const asked = await cli.runInTerminal([...set, 'pw', '--replace'], [`${CANARY}-typed`]);
      expect(asked.code, asked.stdout).to.equal(0);
      expect(asked.stdout).to.not.include(CANARY);
      expect(await contentOf('1.9.0')).to.match(/^parameters:\n {2}"pw": "ENC[^"]*"\n {2}port: 1\n$/);
    } finally {
      cli.close();
    }
  });
});
