// everyday: SQLite; full: PostgreSQL
import { X509Certificate } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { sha256Hex } from '../../src/lib/hash.ts';
import { startHawser } from '../support/hawser.ts';
import { makeMachine } from '../support/join-line.ts';
import { buildOnce } from '../support/program.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { signerLine } from '../support/signed-tags.ts';
import { newSshKey } from '../support/ssh-keys.ts';
import { started } from '../support/started.ts';

const KEYS = '/api/v1/admin/registration-keys';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const SH = { shell: 'sh', agent: 'hawser' };
const POWERSHELL = { shell: 'powershell', agent: 'opendsc' };

describe('the route that makes the line that joins a machine', () => {
  before(() => buildOnce());
  const hawser = started(startHawser);
  const create = () => ok(201, hawser.admin.post(KEYS, {}));
  const trail = async () => (await hawser.admin.get('/api/v1/audit?take=1000')).text;
  const lineOf = (id: string, body: unknown) => hawser.admin.post(`${KEYS}/${id}/join-line`, body);
  const fingerprint = () =>
    new X509Certificate(hawser.target().ca).fingerprint256.replaceAll(':', '').toLowerCase();

  for (const pair of [SH, POWERSHELL]) {
    it(`makes line and script for ${pair.shell}, with key, address and fingerprint, and stores nothing`, async () => {
      const { id, key } = await create();
      const before = await trail();
      const reply = await lineOf(id, { key, ...pair });
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.headers['cache-control']).to.equal('no-store');
      expect(reply.json).to.have.all.keys('line', 'script');
      const { line, script } = reply.json;
      expect(line).to.match(/^[\x20-\x7e]+$/);
      expect(script).to.match(/^#.*\n# /);
      for (const text of [line, script])
        expect(text)
          .to.include(key)
          .and.include(`https://localhost:${hawser.target().port}`)
          .and.include(fingerprint())
          .and.include('HAWSER_PUBLIC_URL is not set');
      expect(await trail()).to.equal(before);
      expect(hawser.log()).to.not.include(key);
    });
  }

  it('gives the signers of a key to the agent, and makes no line for one that checks none', async () => {
    const signers = `# it's "ours" $HOME!\n${signerLine(newSshKey())}`;
    const { id, key } = await ok(201, hawser.admin.post(KEYS, { signers }));
    await expectProblem(lineOf(id, { key, ...POWERSHELL }), 409, 'no_join_line');
    const { line } = await ok(200, lineOf(id, { key, ...SH }));
    expect(line)
      .to.match(/^[\x20-\x7e]+$/)
      .and.not.match(/[\\!]/);
    const machine = makeMachine('signed-01.example.org');
    try {
      const { code, stdout, stderr } = await machine.run(line, { HAWSER_AGENT_COMMAND: '[]' });
      expect(code, stdout + stderr).to.equal(0);
      expect(machine.read('hawser-agent/signers')).to.equal(signers);
      expect(machine.read('hawser-agent/state/signers')).to.equal(signers);
    } finally {
      machine.remove();
    }
  }).timeout(60_000);

  it('refuses other pairs, and a key that is not the one of the path', async () => {
    const [mine, other] = [await create(), await create()];
    const { key } = mine;
    await expectInvalid(lineOf(mine.id, { key, shell: 'sh', agent: 'opendsc' }), '/agent');
    await expectInvalid(lineOf(mine.id, { key, shell: 'powershell', agent: 'hawser' }), '/agent');
    await expectInvalid(lineOf(mine.id, { key, shell: 'cmd', agent: 'hawser' }), '/shell');
    for (const wrong of [other.key, 'reg_none', '']) {
      const reply = await expectInvalid(lineOf(mine.id, { key: wrong, ...SH }), '/key');
      if (wrong !== '') expect(reply.text).to.not.include(wrong);
    }
    await expectProblem(lineOf(UNKNOWN, { key, ...SH }), 404, 'not_found');
  });

  it('serves the authority to the bare request that the line for PowerShell sends', async () => {
    const { id, key } = await create();
    const { line } = await ok(200, lineOf(id, { key, ...POWERSHELL }));
    const [, request = ''] = /GetBytes\("([^"]+)"\)/.exec(line) ?? [];
    const { port } = hawser.target();
    const socket = connect({ host: 'localhost', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    socket.write(request.replaceAll('`r`n', '\r\n').replace('$($uri.Authority)', `localhost:${port}`));
    // It reads to the end, so the server must close the connection.
    const reply = await text(socket);
    const [, pem = ''] = /-----BEGIN CERTIFICATE-----([\s\S]+?)-----END CERTIFICATE-----/.exec(reply) ?? [];
    expect(sha256Hex(Buffer.from(pem, 'base64'))).to.equal(fingerprint());
  });

  it('is for those who manage registration keys', async () => {
    const { id, key } = await create();
    const path = `${KEYS}/${id}/join-line`;
    await expectProblem(hawser.client().post(path, { key, ...SH }), 401, 'unauthenticated');
  });
});
