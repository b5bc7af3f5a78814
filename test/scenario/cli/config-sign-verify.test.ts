// full: SQLite
/** `hawserctl config sign` beside stock git and OpenSSH: each takes what the other has signed. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { startCliSession } from '../../support/cli-session.ts';
import { addVersion, versionsOf } from '../../support/configurations.ts';
import { gitClient } from '../../support/git-client.ts';
import { createToken, publishConfiguration } from '../../support/hawser.ts';
import { cloneOf } from '../../support/push-author.ts';
import { ok } from '../../support/replies.ts';
import { headSha256 } from '../../support/signed-tags.ts';
import { started } from '../../support/started.ts';

const MAIN = '$schema: x\nresources: []\n';
const ADA = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_CONFIG_NOSYSTEM: '1' };

describe('hawserctl config sign, beside OpenSSH', function () {
  this.timeout(120_000);
  const session = started(startCliSession);
  const client = started(async () => gitClient(session.hawser));

  for (const type of ['ed25519', 'ecdsa', 'rsa'])
    it(`agrees with git about ${type}`, async () => {
      const { hawser, cli } = session;
      const name = `by-${type}`;
      const key = join(cli.home, name);
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', key]);
      const publicKey = execFileSync('ssh-keygen', ['-y', '-f', key], { encoding: 'utf8' }).trim();
      const allowedSigners = `ada@example.com ${publicKey}\n`;
      const allowed = cli.write(`${name}-signers`, allowedSigners);
      await publishConfiguration(hawser.admin, name, { '1.0.0': { 'main.dsc.yaml': MAIN } });
      await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }));
      const signing = { require: 'Version', allowedSigners };
      await ok(200, hawser.admin.put(`/api/v1/configurations/${name}/settings`, { signing }));
      const { code, stderr } = await cli.run(['config', 'sign', name, '1.1.0', '--key', key, '--publish'], {
        env: ADA,
      });
      expect(code, stderr).to.equal(0);
      const token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
      const author = await cloneOf(client, name, token);
      const ssh = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`];
      expect(await author.ok(...ssh, 'verify-tag', 'v1.1.0')).to.include(
        'Good "git" signature for ada@example.com',
      );
      await author.commit({ 'main.dsc.yaml': `${MAIN}# three\n`, 'run.sh': 'x\n' });
      const trailers = `Configuration: ${name}\nEntry-Point: main.dsc.yaml\nFiles-SHA256: ${await headSha256(author)}`;
      const message = ['-m', 'Three', '-m', trailers];
      await author.ok(...ssh, '-c', `user.signingkey=${key}`, 'tag', '-s', 'v1.2.0', ...message);
      await author.ok('push', '-o', 'keep', 'origin', 'v1.2.0');
      const { signatureCheck } = await ok(200, hawser.admin.get(`${versionsOf(name)}/1.2.0`));
      expect(signatureCheck).to.include({ status: 'Valid', principal: 'ada@example.com' });
      const [, fingerprint] = execFileSync('ssh-keygen', ['-lf', key], { encoding: 'utf8' }).split(' ');
      expect(signatureCheck.fingerprint).to.equal(fingerprint);
    });

  it('names ssh-agent for a key with a passphrase', async () => {
    const { hawser, cli } = session;
    await publishConfiguration(hawser.admin, 'locked', { '1.0.0': { 'main.dsc.yaml': MAIN } });
    await ok(201, addVersion(hawser.admin, 'locked', { version: '1.1.0' }));
    const key = join(cli.home, 'locked');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'a passphrase', '-f', key]);
    const { code, stderr } = await cli.run(['config', 'sign', 'locked', '1.1.0', '--key', key], { env: ADA });
    expect(code).to.equal(1);
    expect(stderr).to.include('is protected by a passphrase. Add it to ssh-agent by "ssh-add');
  });
});
