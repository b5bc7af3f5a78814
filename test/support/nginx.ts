/** Runs a real nginx in front of a server under test, with the configuration of docs/reverse-proxy.md. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { readAuthority } from './authority.ts';
import type { Hawser } from './hawser.ts';

const PAGE = join(import.meta.dirname, '../../docs/reverse-proxy.md');
/** Debian installs nginx in a folder that is only on root's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;

export interface Nginx {
  port: number;
  /** The errors that it has printed so far. */
  errors(): string;
  stop(): Promise<void>;
}

/** Skips the suite if nginx is missing, with the reason in the title. */
export function describeWithNginx(title: string, suite: (this: Mocha.Suite) => void): void {
  const isInstalled = spawnSync('nginx', ['-v'], { stdio: 'ignore', env: { PATH } }).status === 0;
  if (isInstalled) describe(title, suite);
  else describe.skip(`${title} (skipped: nginx is not installed)`, suite);
}

/** The server's own authority issues nginx's certificate, so that clients trust the same authority as without nginx. */
export async function startNginx(hawser: Hawser): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-nginx-'));
  const port = await freePort();
  const pair = await issueServerCertificate(await readAuthority(hawser), ['localhost'], Date.now());
  const files = { certificate: join(folder, 'site.crt'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  writeFileSync(
    join(folder, 'hawser.conf'),
    siteFrom(PAGE, { port, upstream: hawser.server.port, ...files }),
  );
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(folder));
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    env: { PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await accepting(child, port);
  } catch (error) {
    await stop();
    throw new Error(`nginx did not start: ${errors}`, { cause: error });
  }
  return { port, errors: () => errors, stop };
}

interface Site {
  port: number;
  upstream: number;
  certificate: string;
  key: string;
}

/** Takes the configuration from the page, and changes only its paths and ports. */
function siteFrom(page: string, { port, upstream, certificate, key }: Site): string {
  const site = /^```nginx\n(.*?)^```$/ms.exec(readFileSync(page, 'utf8'))?.[1];
  if (site === undefined) throw new Error(`${page} shows no configuration`);
  const replacements: [shown: string, used: string][] = [
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['127.0.0.1:8080', `127.0.0.1:${upstream}`],
    ['/etc/nginx/tls/hawser.crt', certificate],
    ['/etc/nginx/tls/hawser.key', key],
  ];
  return replacements.reduce((text, [shown, used]) => {
    if (text.split(shown).length !== 2) throw new Error(`${page} does not hold "${shown}" once`);
    return text.replace(shown, used);
  }, site);
}

/** A main configuration like Debian's nginx.conf, in a temporary folder. */
function mainConfiguration(folder: string): string {
  mkdirSync(join(folder, 'tmp'));
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `  ${kind}_temp_path ${folder}/tmp/${kind};`);
  // Otherwise an nginx that root started changes to another user, who may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  return `${user}daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
${paths.join('\n')}
  include ${folder}/hawser.conf;
}
`;
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function accepting(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 500 && child.exitCode === null; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nobody listens');
}
