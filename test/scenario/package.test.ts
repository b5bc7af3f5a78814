// full: SQLite
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { makeClient } from '../support/client.ts';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { ADMIN_PASSWORD, signIn } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';

const SOURCES = [
  'package.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'src',
  'docs',
  'scripts',
  'test/support',
];
/** What must never be shipped, as it may lie in a checkout that a server was started in. */
const SECRETS = [
  'data/hawser.db',
  'data/tls/ca.key',
  'data/initial-admin-password',
  'repos/configurations/web.git/HEAD',
];

interface Packed {
  filename: string;
  files: { path: string }[];
}

/** Packs a copy of the checkout, so that nothing of the checkout's own build is touched. */
function pack(folder: string): Packed {
  const checkout = join(folder, 'checkout');
  for (const path of SOURCES) cpSync(join(PROJECT, path), join(checkout, path), { recursive: true });
  for (const path of SECRETS) {
    mkdirSync(join(checkout, path, '..'), { recursive: true });
    writeFileSync(join(checkout, path), 'secret');
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(checkout, 'node_modules'));
  const args = ['pack', '--offline', '--json', '--pack-destination', folder];
  const output = execFileSync('npm', args, {
    cwd: checkout,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // What npm says of the scripts that it runs stands before.
  return JSON.parse(output.slice(output.indexOf('\n[') + 1))[0];
}

/**
 * As `npm install` would leave it, with the checkout's dependencies: to install them would compile better-sqlite3, which
 * takes a minute, and ask the registry.
 * @returns the folder with the package's programs
 */
function install(folder: string, archive: string): string {
  execFileSync('tar', ['-xzf', join(folder, archive), '-C', folder]);
  const installed = join(folder, 'package');
  symlinkSync(join(PROJECT, 'node_modules'), join(installed, 'node_modules'));
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const [name, path] of Object.entries<string>(bin)) {
    chmodSync(join(installed, path), 0o755);
    symlinkSync(join(installed, path), join(programs, name));
  }
  return programs;
}

describe('the package', function () {
  this.timeout(300_000);
  let folder: string;
  let packed: Packed;
  let programs: string;
  let settings: Record<string, string>;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-package-'));
    packed = pack(folder);
    programs = install(folder, packed.filename);
    settings = {
      PATH: process.env['PATH'] ?? '',
      HAWSER_HOST: '127.0.0.1',
      HAWSER_DATA_DIR: join(folder, 'state/data'),
      HAWSER_REPOS_DIR: join(folder, 'state/repos'),
      HAWSER_ENV: 'development',
      HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
    };
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (program: string, args: string[], env = settings) =>
    promisify(execFile)(join(programs, program), args, { cwd: folder, env });

  it('holds the program, its documents and what starts it, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).to.include.members([
      '.build/main.js',
      '.build/client/hawser-agent.mjs',
      '.build/client/hawserctl.mjs',
      'LICENSE',
      'README.md',
      'docs/README.md',
      'scripts/container/Containerfile',
      'scripts/systemd/hawser.service',
    ]);
    const others = paths.filter(
      (path) =>
        !/^(package\.json|LICENSE|README\.md|docs\/.*|\.build\/.*\.js(\.map)?|\.build\/([0-9a-f]{16}\/)?client\/([a-z-]+\.mjs|package\.json)|\.build\/[0-9a-f]{16}\/ui\/.*|scripts\/((container|systemd)\/.*|(build|required-node)\.js))$/.test(
          path,
        ),
    );
    expect(others).to.deep.equal([]);
  });

  it('has programs that start wherever they lie', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    expect((await run('hawser', ['--version'])).stdout).to.equal(`hawser ${version}\n`);
    for (const client of ['hawser-agent', 'hawserctl'])
      expect((await run(client, ['--version'])).stdout).to.equal(`${client} ${version}\n`);
  });

  it('has another one in it, of the clients alone, which npm installs without any others', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    const npm = (...words: string[]) =>
      execFileSync('npm', [...words, '--offline', '--silent'], { cwd: folder, encoding: 'utf8' });
    const archive = npm('pack', './package/.build/client').trim();
    expect(archive).to.equal(`hawserctl-${version}.tgz`);
    npm('install', '--global', '--prefix', join(folder, 'clients'), `./${archive}`);
    const { stdout } = await promisify(execFile)(join(folder, 'clients/bin/hawserctl'), ['--version']);
    expect(stdout).to.equal(`hawserctl ${version}\n`);
  });

  describe('as a server', () => {
    let server: ChildProcess;
    let port: number;

    before(async () => {
      const child = spawn(join(programs, 'hawser'), ['serve'], {
        cwd: folder,
        env: { ...settings, HAWSER_PORT: '0' },
      });
      server = child;
      child.stderr.resume();
      for await (const line of createInterface({ input: child.stdout })) {
        const { msg, url } = JSON.parse(line);
        if (msg !== 'listening') continue;
        port = Number(new URL(url).port);
        break;
      }
      child.stdout.resume();
    });
    after(async () => {
      server.kill('SIGTERM');
      await once(server, 'close');
    });

    it('is ready, and says so to whoever asks with its settings', async () => {
      const { stdout } = await run('hawser', ['health'], { ...settings, HAWSER_PORT: String(port) });
      expect(JSON.parse(stdout)).to.include({ status: 'Ready' });
    });

    it('has with it what browsers are given to read', async () => {
      const ca = readFileSync(join(folder, 'state/data/tls/ca.crt'), 'utf8');
      const client = makeClient({ port, ca });
      const downloads = ['hawserctl.mjs', 'hawser-agent.mjs'].map((name) => `/download/${name}`);
      for (const path of [
        '/openapi/v1.json',
        '/reference',
        '/reference/swagger-ui-bundle.js',
        ...downloads,
      ]) {
        expect((await client.get(path)).status, path).to.equal(200);
      }
      client.close();
    });

    it('reads large documents in a thread of its own', async () => {
      const ca = readFileSync(join(folder, 'state/data/tls/ca.crt'), 'utf8');
      const client = makeClient({ port, ca });
      const admin = client.with({ Cookie: await signIn(client, 'admin', ADMIN_PASSWORD) });
      const fields = { name: 'web' };
      await ok(
        201,
        admin.upload(CONFIGURATIONS, { fields, files: { [MAIN]: '$schema: x\nresources: []\n' } }),
      );
      const verdict = admin.call('POST', `${CONFIGURATIONS}/web/parameters/validate`, {
        headers: { 'Content-Type': 'application/yaml' },
        body: `parameters: {list: [${'{}, '.repeat(20_000)}]}`,
      });
      expect(await ok(200, verdict)).to.deep.equal({ isValid: true, errors: [] });
      client.close();
    });

    it('is found healthy by its doctor', async () => {
      const { stdout } = await run('hawser', ['doctor', '--json']);
      expect(JSON.parse(stdout)).to.include({ healthy: true });
    });
  });
});
