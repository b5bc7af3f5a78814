// everyday: SQLite
/** `hawserctl config sign`, without any tool of OpenSSH. */

import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { SshReader, sshString } from '../../../src/domain/ssh-keys.ts';
import { expectFailed } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { addVersion, versionsOf } from '../../support/configurations.ts';
import { publishConfiguration } from '../../support/hawser.ts';
import { ok } from '../../support/replies.ts';
import { signerLine } from '../../support/signed-tags.ts';
import { newSshKey, type SshKey } from '../../support/ssh-keys.ts';
import { started } from '../../support/started.ts';

const MAIN = '$schema: x\nresources: []\n';
const FILES = { 'main.dsc.yaml': `${MAIN}# two\n`, 'modules/größe.ps1': 'Write-Output 1\n', 'a b.txt': '' };
const ADA = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_CONFIG_NOSYSTEM: '1' };

/** An agent that has these keys, and signs by ed25519. */
function startAgent(path: string, keys: readonly SshKey[]): Promise<Server> {
  const blobOf = ({ key }: SshKey) => key.publicKey.blob;
  const answerTo = async (request: Buffer): Promise<Buffer> => {
    if (request[0] === 11) {
      const count = Buffer.from([12, 0, 0, 0, keys.length]);
      return Buffer.concat([
        count,
        ...keys.flatMap((key) => [sshString(blobOf(key)), sshString('a comment')]),
      ]);
    }
    const reader = new SshReader(request.subarray(1));
    const blob = reader.string();
    const key = keys.find((each) => blobOf(each).equals(blob));
    if (request[0] !== 13 || key === undefined) return Buffer.from([5]);
    const { sign } = await import('node:crypto');
    const value = sign(null, reader.string(), key.key.key);
    const signed = Buffer.concat([sshString('ssh-ed25519'), sshString(value)]);
    return Buffer.concat([Buffer.from([14]), sshString(signed)]);
  };
  const server = createServer((socket) => {
    socket.on('data', async (data) => socket.write(sshString(await answerTo(data.subarray(4)))));
  });
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}

describe('hawserctl config sign', function () {
  this.timeout(60_000);
  const session = started(startCliSession);
  const ada = newSshKey();
  let key = '';
  const sign = (words: readonly string[], env: Record<string, string> = {}) =>
    session.cli.run(['config', 'sign', ...words], { env: { ...ADA, ...env } });
  const read = (name: string, version: string) =>
    ok(200, session.hawser.admin.get(`${versionsOf(name)}/${version}`));
  const prepare = async (name: string) => {
    const { admin } = session.hawser;
    await publishConfiguration(admin, name, { '1.0.0': { 'main.dsc.yaml': MAIN } });
    await ok(201, addVersion(admin, name, { version: '1.1.0' }, { files: FILES }));
    const signing = { require: 'Version', allowedSigners: signerLine(ada) };
    await ok(200, admin.put(`/api/v1/configurations/${name}/settings`, { signing }));
  };

  before(() => {
    key = session.cli.write('id_ed25519', ada.privateFile);
  });

  it('signs a draft by the key of a file, which publishing then places', async () => {
    await prepare('web');
    const { code, stdout, stderr } = await sign([
      'web',
      '1.1.0',
      '--key',
      key,
      '-m',
      'Other ports\n\nAnd why',
    ]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal('web 1.1.0 is signed.\n');
    expect(stderr).to.include('Signing web 1.1.0: 3 files, entry point main.dsc.yaml, by SHA256:');
    const draft = await read('web', '1.1.0');
    expect(draft).to.include({ status: 'Draft', signature: 'Ssh' });
    expect(draft.signatureCheck).to.include({ status: 'Valid', principal: 'ada@example.com', reason: null });
    expect((await session.cli.run(['config', 'publish', 'web', '1.1.0', '--yes'])).code).to.equal(0);
    const published = await read('web', '1.1.0');
    expect(published).to.include({ status: 'Published', publishedBy: 'admin', commit: draft.commit });
    expect(published.message).to.equal('Other ports\n\nAnd why');
    expect(published.signatureCheck).to.deep.equal(draft.signatureCheck);
    expectFailed(await sign(['web', '1.1.0', '--key', key]), 1, 'web 1.1.0 is published already.');
  });

  it('signs by ssh-agent, and publishes at once where that is said', async () => {
    await prepare('agent');
    const socket = join(session.cli.home, 'agent.sock');
    const agent = await startAgent(socket, [ada]);
    const both = await startAgent(`${socket}2`, [newSshKey(), ada]);
    try {
      const publicKey = session.cli.write('id_ed25519.pub', `${ada.publicLine} ada\n`);
      expectFailed(await sign(['agent', '1.1.0']), 1, 'There is no key to sign with. Say --key FILE');
      const several = await sign(['agent', '1.1.0'], { SSH_AUTH_SOCK: `${socket}2` });
      expectFailed(several, 1, 'ssh-agent has 2 keys; say which by --key FILE.pub.');
      const kept = await sign(['agent', '1.1.0', '--key', publicKey], { SSH_AUTH_SOCK: `${socket}2` });
      expect(kept.code, kept.stderr).to.equal(0);
      const { code, stdout, stderr } = await sign(['agent', '1.1.0', '--publish'], { SSH_AUTH_SOCK: socket });
      expect(code, stderr).to.equal(0);
      expect(stdout).to.equal('agent 1.1.0 is signed and published.\n');
      expect(await read('agent', '1.1.0')).to.deep.include({ status: 'Published', message: 'agent 1.1.0' });
    } finally {
      for (const server of [agent, both]) server.close();
    }
  });

  it('says what is wrong with a key, and what the server refuses', async () => {
    await prepare('refused');
    const eve = session.cli.write('id_eve', newSshKey().privateFile);
    const refused = await sign(['refused', '1.1.0', '--key', eve]);
    expectFailed(refused, 1, /signature_invalid: .*unknown_signer/);
    const none = session.cli.write('no-key', 'nothing\n');
    expectFailed(await sign(['refused', '1.1.0', '--key', none]), 1, 'holds neither a private key');
    expectFailed(await sign(['refused', '1.1.0', '--key', `${key}-not-there`]), 1, 'cannot be read: ENOENT');
    // The cipher stands in the clear before everything else.
    const locked = Buffer.from(ada.privateFile.split('\n').slice(1, -2).join(''), 'base64').toString(
      'latin1',
    );
    const bytes = Buffer.from(
      locked.replace('\0\0\0\x04none\0\0\0\x04none', '\0\0\0\x0aaes256-ctr\0\0\0\x06bcrypt'),
      'latin1',
    );
    const text = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
    const file = session.cli.write('id_locked', text);
    const { stderr } = await sign(['refused', '1.1.0', '--key', file]);
    expect(stderr).to.include('is protected by a passphrase. Add it to ssh-agent by "ssh-add');
    expect((await read('refused', '1.1.0')).signatureCheck).to.equal(null);
    const nobody = await session.cli.run(['config', 'sign', 'refused', '1.1.0', '--key', key], {
      env: { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_COMMITTER_NAME: '', EMAIL: '' },
    });
    expect(nobody.code).to.equal(1);
  });
});
