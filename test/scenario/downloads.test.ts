// full: SQLite
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { CLIENTS } from '../../src/api/download/files.ts';
import { readVersion } from '../../src/lib/version.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { buildOnce } from '../support/program.ts';

const addressOf = (name: string) => `/download/${name}`;
const fileOf = (name: string) => join(PROJECT, '.build/client', name);

describe('the clients', () => {
  let hawser: Hawser;
  before(async () => {
    buildOnce();
    hawser = await startHawser();
  });
  after(() => hawser.close());

  for (const name of CLIENTS) {
    describe(name, () => {
      it('is handed out to anyone, as the build has made it', async () => {
        const reply = await hawser.client().get(addressOf(name));
        expect(reply.status, reply.text).to.equal(200);
        const built = readFileSync(fileOf(name));
        expect(reply.bytes.equals(built)).to.equal(true);
        const digest = createHash('sha256').update(built).digest('base64');
        expect(reply.headers).to.include({
          'content-type': 'text/javascript; charset=utf-8',
          'content-length': String(built.length),
          'content-disposition': `attachment; filename="${name}"`,
          'cache-control': 'no-cache',
          'repr-digest': `sha-256=:${digest}:`,
        });
      });

      describe('as one file', () => {
        let folder: string;
        let copy: string;
        before(() => {
          folder = mkdtempSync(join(tmpdir(), 'hawser-client-'));
          copy = join(folder, name);
          copyFileSync(fileOf(name), copy);
        });
        after(() => rmSync(folder, { recursive: true, force: true }));

        it('runs where nothing else is, and tells its version', () => {
          const env = { PATH: process.env['PATH'] ?? '' };
          const text = execFileSync(copy, ['--version'], { cwd: folder, env, encoding: 'utf8' });
          expect(text).to.equal(`${name.replace('.mjs', '')} ${readVersion()}\n`);
        });

        it('takes nothing but what Node brings', () => {
          const text = readFileSync(copy, 'utf8');
          expect(text.startsWith('#!/usr/bin/env node\n')).to.equal(true);
          const packages = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1] ?? '');
          expect(packages).to.include('https');
          expect(packages.filter((path) => !isBuiltin(path))).to.deep.equal([]);
        });

        it('says in one sentence that Node is too old, before anything else', () => {
          const old = join(folder, `old-${name}`);
          const [head = '', rest] = readFileSync(copy, 'utf8').split("refuseOlderNode('");
          const wanted = String(rest).replace(/^([\w-]+)', '20\.19'/, "$1', '99.1'");
          writeFileSync(old, `${head}refuseOlderNode('${wanted}`);
          const { status, stdout, stderr } = spawnSync(process.execPath, [old, '--help'], {
            encoding: 'utf8',
          });
          expect({ status, stdout, stderr }).to.deep.equal({
            status: 1,
            stdout: '',
            stderr: `${name.replace('.mjs', '')} needs Node 99.1 or newer; this is ${process.version}\n`,
          });
        });
      });
    });
  }

  it('come in equal bytes from equal sources', async () => {
    const { build } = await import('esbuild');
    // @ts-expect-error It is JavaScript, because the build must run without TypeScript.
    const { buildClients } = await import('../../scripts/build-clients.js');
    const made: { path: string; contents: Uint8Array }[] = await buildClients(build, PROJECT, '/anywhere');
    const names = [...CLIENTS, 'package.json'];
    expect(made.map(({ path }) => path)).to.have.members(names.map((name) => `/anywhere/${name}`));
    for (const name of names) {
      const contents = made.find(({ path }) => path === `/anywhere/${name}`)?.contents ?? Buffer.alloc(0);
      expect(readFileSync(fileOf(name)).equals(contents), name).to.equal(true);
    }
  });
});
