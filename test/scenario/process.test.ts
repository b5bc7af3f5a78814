// full: SQLite, PostgreSQL
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { expect } from 'chai';
import { makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { DATABASE_FILES } from '../support/database.ts';
import { ENGINE, itOnSqlite } from '../support/engine.ts';
import { ADMIN_PASSWORD, signIn } from '../support/hawser.ts';
import { statusesOf } from '../support/raw-tls.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

/** The certificate that the server shows to a new connection. */
function shownCertificate(port: number): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

describe('the process', () => {
  let folder: string;
  let hawser: Spawned;
  let target: Target;
  const certificate = () => join(folder, 'server.crt');
  const key = () => join(folder, 'server.key');

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-process-'));
    const made = await makeClientCertificate({ commonName: 'first.example.org' });
    writeFileSync(certificate(), made.cert);
    writeFileSync(key(), made.key, { mode: 0o600 });
    writeFileSync(join(folder, 'password'), `${ADMIN_PASSWORD}\r\nonly the first line counts\n`);
    hawser = await spawnHawser(folder, {
      HAWSER_ADMIN_PASSWORD: '',
      HAWSER_ADMIN_PASSWORD_FILE: join(folder, 'password'),
      HAWSER_TLS_CERT: certificate(),
      HAWSER_TLS_KEY: key(),
      HAWSER_WORKERS: '1',
    });
    const { port } = await hawser.listening();
    target = { port, ca: made.cert };
  });
  after(() => {
    hawser.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const openUntrusting = () => {
    const socket = connect({ host: '127.0.0.1', port: target.port, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    return socket;
  };

  it('takes the first password from a file, and then asks for no other', async () => {
    const socket = openUntrusting();
    const body = JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD });
    socket.write(
      `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let received = '';
    for await (const chunk of socket) received += String(chunk);
    expect(statusesOf(received)).to.deep.equal([200]);
    expect(received).to.include('"requirePasswordChange":false');
    expect(hawser.stderr()).to.equal('');
  });

  it('makes its folders for its user alone', () => {
    for (const name of ['data', 'repos', 'data/tls']) {
      expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o700);
    }
    for (const name of [...DATABASE_FILES, 'tls/ca.crt', ...(ENGINE === 'sqlite' ? ['tls/ca.key'] : [])].map(
      (file) => `data/${file}`,
    )) {
      expect(statSync(join(folder, name)).mode & 0o077, name).to.equal(0);
    }
  });

  it('writes its log as JSON lines', () => {
    const lines = hawser.stdout().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).to.include.keys('level', 'time', 'msg');
  });

  it('names a setting that has no effect any more', () => {
    const lines = hawser
      .stdout()
      .split('\n')
      .filter((line) => line.includes('"setting"'));
    expect(lines).to.have.length(1);
    expect(JSON.parse(lines[0] ?? '')).to.include({ level: 'warn', setting: 'HAWSER_WORKERS' });
  });

  it('changes its log level at SIGUSR2, and back', async () => {
    const lines = () => hawser.stdout().split('"path":"/health"').length - 1;
    const ask = async () => {
      const socket = openUntrusting();
      socket.resume().write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      await once(socket, 'close');
    };
    await ask();
    expect(lines()).to.equal(0);
    hawser.child.kill('SIGUSR2');
    await hawser.logged('"logLevel":"debug"');
    await ask();
    await hawser.logged('"path":"/health"');
    hawser.child.kill('SIGUSR2');
    await hawser.logged('"logLevel":"info"');
    const before = lines();
    await ask();
    expect(lines()).to.equal(before);
  });

  it('shows a new certificate after a reload, and goes on with the old one when the new one is bad', async () => {
    const reload = () => runHawser(folder, {}, ['reload']);
    expect((await shownCertificate(target.port)).subject.CN).to.equal('first.example.org');
    const kept = openUntrusting();
    await new Promise((resolve) => kept.once('secureConnect', resolve));
    copyFileSync(certificate(), join(folder, 'kept.crt'));
    writeFileSync(certificate(), 'no certificate at all');
    const refused = {
      code: 1,
      stdout: '',
      stderr: 'hawser: HAWSER_TLS_CERT: holds no certificate in PEM form\n',
    };
    expect(await reload()).to.deep.equal(refused);
    expect((await shownCertificate(target.port)).subject.CN).to.equal('first.example.org');
    const made = await makeClientCertificate({ commonName: 'second.example.org' });
    writeFileSync(certificate(), made.cert);
    writeFileSync(key(), made.key, { mode: 0o600 });
    expect(await reload()).to.include({ code: 0, stderr: '' });
    expect((await shownCertificate(target.port)).subject.CN).to.equal('second.example.org');
    kept.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let received = '';
    for await (const chunk of kept) received += String(chunk);
    expect(statusesOf(received), 'a connection of before').to.deep.equal([200]);
  });

  it('keeps a certificate that is valid when the new one has expired', async () => {
    const shown = (await shownCertificate(target.port)).fingerprint256;
    const kept = [certificate(), key()].map((path) => [path, readFileSync(path)] as const);
    const made = await makeClientCertificate({
      commonName: 'expired.example.org',
      notAfter: Date.now() - 1000,
    });
    writeFileSync(certificate(), made.cert);
    writeFileSync(key(), made.key);
    const { code, stderr } = await runHawser(folder, {}, ['reload']);
    expect(stderr).to.match(
      /^hawser: HAWSER_TLS_CERT: the certificate is valid from \S+ to \S+ only, and not now\n$/,
    );
    expect(code).to.equal(1);
    expect((await shownCertificate(target.port)).fingerprint256).to.equal(shown);
    for (const [path, content] of kept) writeFileSync(path, content);
  });

  it('is not reloaded where none runs', async () => {
    const { code, stderr } = await runHawser(folder, { HAWSER_DATA_DIR: join(folder, 'none') }, ['reload']);
    expect(stderr).to.equal(`hawser: no server uses ${join(folder, 'none')}\n`);
    expect(code).to.equal(1);
  });

  it('does not start on a port that is taken, and says so', async () => {
    const other = join(folder, 'other');
    const { code, stderr } = await runHawser(other, { HAWSER_PORT: String(target.port) });
    expect(stderr).to.equal(`hawser: HAWSER_PORT: another program listens on port ${target.port} already\n`);
    expect(code).to.equal(1);
  });

  it('at SIGTERM answers what is in progress, takes nothing new, and ends with 0', async () => {
    const socket = openUntrusting();
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const body = JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD });
    const continued = new Promise((resolve) => socket.once('data', resolve));
    // The server asks for the body: from then on the request is in progress.
    socket.write(
      `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await continued;
    const idle = openUntrusting();
    const idleClosed = new Promise((resolve) => idle.once('close', resolve));
    await new Promise((resolve) => idle.once('secureConnect', resolve));
    hawser.child.kill('SIGTERM');
    await hawser.logged('"msg":"closing"');
    await idleClosed;
    const refused = await shownCertificate(target.port).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(refused).to.be.oneOf(['ECONNREFUSED', 'ECONNRESET']);
    socket.write(body);
    await closed;
    expect(statusesOf(received)).to.deep.equal([100, 200]);
    expect(received).to.match(/^connection: close/im);
    const { code, stderr } = await hawser.ended;
    expect(code).to.equal(0);
    expect(stderr).to.equal('');
  });

  it('finds everything again at the next start', async () => {
    rmSync(join(folder, 'password'));
    const again = await spawnHawser(folder, { HAWSER_ADMIN_PASSWORD: '', HAWSER_LOG_LEVEL: 'info' });
    const found = await again.listening();
    const client = makeClient(found);
    await signIn(client, 'admin', ADMIN_PASSWORD);
    client.close();
    again.child.kill('SIGINT');
    const { code, stderr } = await again.ended;
    expect(code).to.equal(0);
    expect(stderr, 'no first password is shown again').to.equal('');
  });

  itOnSqlite('keeps its database in the data folder', () => {
    expect(readFileSync(join(folder, 'data/hawser.db')).subarray(0, 6).toString()).to.equal('SQLite');
  });
});
