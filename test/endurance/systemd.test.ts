import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { BootedSystemd } from '../support/booted-systemd.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { describeWith } from '../support/optional-tools.ts';
import { buildOnce } from '../support/program.ts';

const DAY = 86_400_000;
/** A value in which systemd, a shell and a unit file each see something else. */
const ODD = `/var/lib/hawser/a $HOME "b" 100%n 'c'`;
const ENV_FILE = '/etc/hawser/hawser.env';
const LINEAGE = '/etc/letsencrypt/live/hawser.example.org';
const booting = await BootedSystemd.booting();

/** Stand-ins: what the package needs is there, root needs no sudo, and certbot calls a hook by a shell, as the real one. */
const STAND_INS = {
  sudo: 'exec "$@"',
  'apt-get': '',
  npm: '',
  certbot: `while [ "$1" != --deploy-hook ]; do shift; done; RENEWED_LINEAGE=${LINEAGE} sh -c "$2" 2>&1 || echo "hook failed: $?"`,
};

/** The blocks of commands and files of the page, without what they are indented by. */
const BLOCKS = [
  ...readFileSync(join(PROJECT, 'docs/operating.md'), 'utf8').matchAll(/^( *)```\w+\n([\s\S]*?)^\1```$/gm),
].map(([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));

/** The one block of the page that has the text. */
function block(text: string): string {
  const [found, ...others] = BLOCKS.filter((each) => each.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`${text} is not in exactly one block`);
  return found;
}

/** Lines that write the block whose first line is its path. */
function fileOf(path: string): string {
  return `mkdir -p "$(dirname ${path})"\n${writing(path, block(`# ${path}\n`))}`;
}

function writing(path: string, content: string): string {
  return `cat > ${path} << 'END OF FILE'\n${content}\nEND OF FILE\n`;
}

describeWith(['systemd-nspawn', booting], 'under a booted systemd', () => {
  let machine: BootedSystemd;

  before(async () => {
    buildOnce();
    machine = await BootedSystemd.boot();
    for (const [name, lines] of Object.entries(STAND_INS))
      await machine.do(
        `${writing(`/usr/local/bin/${name}`, `#!/bin/sh\n${lines}`)}chmod +x /usr/local/bin/${name}`,
      );
    await machine.do('echo 127.0.0.1 hawser.example.org >> /etc/hosts');
  });
  after(() => machine?.stop());

  const writeCertificate = async (commonName: string, folder: string, notAfter = Date.now() + DAY) => {
    const { cert, key } = await makeClientCertificate({ commonName, notAfter });
    await machine.do(`mkdir -p ${folder}\n${writing(`${folder}/fullchain.pem`, cert)}
      umask 077\n${writing(`${folder}/privkey.pem`, key)}`);
  };
  const shown = () =>
    machine.do(
      'openssl s_client -connect localhost:8443 < /dev/null 2> /dev/null | openssl x509 -noout -subject',
    );

  it('hawser-run says what to do instead where the unit or systemd is missing', async () => {
    const withoutUnit = await machine.run('/opt/hawser/bin/hawser-run doctor');
    expect(withoutUnit).to.include({ code: 1, stdout: '' });
    expect(withoutUnit.stderr).to.match(
      /^hawser-run: systemd does not know hawser.service; install [^\n]+\n$/,
    );
    const hidden = 'mount -t tmpfs tmpfs /run/systemd && /opt/hawser/bin/hawser-run doctor';
    const withoutSystemd = await machine.run(`unshare --mount sh -c '${hidden}'`);
    expect(withoutSystemd).to.include({ code: 1, stdout: '' });
    expect(withoutSystemd.stderr).to.match(
      /^hawser-run: systemd does not run here; run hawser itself[^\n]+\n$/,
    );
  });

  it('the server is installed as the page says', async () => {
    const password = await machine.do(block('useradd --system'));
    expect(password).to.match(/^\S{20,}\n$/);
  });

  it('a command gets the settings, the credentials and the user that the server gets', async () => {
    const quoted = ODD.replaceAll(/["$]/g, '\\$&');
    await machine.do(`${fileOf('/etc/systemd/system/hawser.service.d/metrics-token.conf')}
      umask 077; echo a-token-for-prometheus-and-nobody-else > /etc/hawser/metrics-token; umask 022
      ${writing(ENV_FILE, `HAWSER_DATA_DIR="${quoted}"`)}
      systemctl daemon-reload; systemctl restart hawser`);
    const served = await machine.do(
      `tr '\\0' '\\n' < /proc/$(systemctl show --property=MainPID --value hawser)/environ | sed -n s/^HAWSER_DATA_DIR=//p`,
    );
    expect(served).to.equal(`${ODD}\n`);
    expect(await machine.do('hawser-run doctor')).to.include(
      `data in ${ODD}, repositories in /var/lib/hawser/repos\n`,
    );
    const file = `/tmp/one "two" $HOME %n \\.zip`;
    expect(await machine.do(`hawser-run backup '${file}'`)).to.include(`${file}: the database`);
    expect(await machine.do(`stat --format='%U %a' '${file}'`)).to.equal('hawser 600\n');
  });

  it('a command that would not get what was meant for it is refused', async () => {
    const exported = await machine.run(
      'export HAWSER_DATA_DIR=/tmp/rehearsal; hawser-run restore /tmp/x.zip',
    );
    expect(exported.code).to.equal(64);
    expect(exported.stderr).to.include('write hawser-run HAWSER_DATA_DIR=<value> <command>');
    const unprivileged = await machine.run('setpriv --reuid=hawser --clear-groups hawser-run doctor');
    expect(unprivileged.code).to.equal(1);
    expect(unprivileged.stderr).to.include('put sudo before it');
    const wrong = await machine.run('hawser-run no-such-command');
    expect(wrong.code).to.equal(64);
    expect(wrong.stderr).to.include('unknown command "no-such-command"');
  });

  it('backup and doctor run by their units, and a backup is rehearsed beside the server', async () => {
    await machine.do(`${block('enable --now hawser-backup.timer')}
      sleep 1; systemctl start hawser-backup
      ${block('enable --now hawser-doctor.timer')}
      systemctl start hawser-doctor`);
    const told = await machine.do(
      'find /var/lib/hawser -name "last-*.json" | sort; systemctl list-unit-files hawser-*',
    );
    expect(told).to.match(/last-backup\.json\n.*last-doctor\.json\n/);
    for (const unit of ['backup', 'doctor'])
      expect(told).to.match(new RegExp(`^hawser-${unit}\\.timer +enabled`, 'm'));
    const archives = await machine.do("stat --format='%U %a %n' /var/backups/hawser/*.zip");
    expect(archives).to.match(/^(hawser 600 \/var\/backups\/hawser\/hawser-[-0-9TZ]{18}\.zip\n){2}$/);
    const [restoring, serving = ''] = block('/tmp/rehearsal').split(/(?=^.* serve$)/m);
    // In the background a shell without a terminal takes no SIGINT.
    const output = await machine.do(`${restoring}
      ${serving.trim()} > /tmp/rehearsal.log & server=$!
      until grep -q '"listening"' /tmp/rehearsal.log; do sleep 0.1; done
      kill -TERM $server; wait $server; cat /tmp/rehearsal.log; systemctl is-active hawser`);
    expect(output).to.include('restored the database').and.include('data in /tmp/rehearsal/data');
    expect(output).to.match(/"url":"https:\/\/localhost:9443".*"closing".*\nactive\n$/s);
  });

  it('a reload fails with the sentence of the server when a file is refused', async () => {
    const folder = '/etc/hawser/own';
    await writeCertificate('first.example.org', folder);
    await machine.do(`chgrp -R hawser ${folder}; chmod 640 ${folder}/privkey.pem
      ${writing(ENV_FILE, `HAWSER_TLS_CERT=${folder}/fullchain.pem\nHAWSER_TLS_KEY=${folder}/privkey.pem`)}
      systemctl restart hawser; systemctl reload hawser; rm -r /var/lib/hawser/a*`);
    await machine.do(`echo nothing > ${folder}/privkey.pem`);
    const sentence = 'HAWSER_TLS_KEY: holds no private key in PEM form';
    expect(await machine.run('systemctl reload hawser')).to.include({ code: 1, stdout: '' });
    expect(await machine.do('systemctl status --lines=0 hawser')).to.include(
      `the last reload was refused: ${sentence}`,
    );
    expect(await machine.do('journalctl --unit=hawser --output=cat')).to.include(`\nhawser: ${sentence}\n`);
    expect(await machine.run('hawser-run reload')).to.include({ code: 1, stderr: `hawser: ${sentence}\n` });
    await writeCertificate('expired.example.org', folder, Date.now() - 1000);
    const { code, stderr } = await machine.run('hawser-run reload');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^hawser: HAWSER_TLS_CERT: the certificate is valid from \S+ to \S+ only, and not now\n$/,
    );
    expect(await shown()).to.include('first.example.org');
    await writeCertificate('second.example.org', folder);
    await machine.do('systemctl reload hawser');
    expect(await shown()).to.include('second.example.org');
    expect(await machine.do('systemctl status --lines=0 hawser')).to.not.include('refused');
  });

  it("a certificate of Let's Encrypt reaches the server by the hook, and a bad one does not", async () => {
    await machine.do(`${writing(ENV_FILE, block('HAWSER_TLS_CERT=/etc/hawser/tls/fullchain.pem'))}`);
    await writeCertificate('issued.example.org', LINEAGE);
    const issued = await machine.do(block('certbot certonly'));
    expect(issued)
      .to.include('another certificate is shown at hawser.example.org:8443')
      .and.include('hook failed: 1');
    const hook = block('sudo env RENEWED_LINEAGE');
    expect(await machine.do(hook)).to.include('The new certificate is shown at hawser.example.org:8443.');
    expect(await machine.do("stat --format='%U %G %a' /etc/hawser/tls/*")).to.equal(
      'root hawser 640\n'.repeat(2),
    );
    await writeCertificate('renewed.example.org', LINEAGE);
    await machine.do(hook);
    expect(await shown()).to.include('renewed.example.org');
    await writeCertificate('expired.example.org', LINEAGE, Date.now() - 1000);
    const refused = await machine.run(hook);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /and not now\ncertbot-deploy-hook: .* those of before are in their place again\n$/,
    );
    await machine.do('systemctl restart hawser');
    expect(await shown()).to.include('renewed.example.org');
  });

  it('the folders are moved as the page says', async () => {
    await machine.do(block('sudo mv /var/lib/hawser/data'));
    await machine.do(`cp ${ENV_FILE} /root/; echo HAWSER_DATA_DIR=/srv/hawser/data >> ${ENV_FILE}`);
    const { code } = await machine.run('systemctl start hawser');
    expect(code, 'without the drop-in').to.equal(1);
    expect(await machine.do('journalctl --unit=hawser --output=cat --lines=10')).to.include(
      'HAWSER_DATA_DIR: cannot be used (EROFS)',
    );
    await machine.do(
      `cp /root/hawser.env ${ENV_FILE}; ${fileOf('/etc/systemd/system/hawser.service.d/folders.conf')}`,
    );
    const report = await machine.do(block('sudo systemctl daemon-reload\nsudo systemctl start hawser'));
    expect(report).to.include('data in /srv/hawser/data, repositories in /srv/hawser/repos\n');
    expect(await machine.do('systemctl start hawser-backup.service; ls /var/lib/hawser')).to.equal('');
  });
});
