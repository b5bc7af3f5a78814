/** Runs a real nginx in front of a server under test, with the configuration of docs/reverse-proxy.md. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';
import { issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { readAuthority } from './authority.ts';
import type { Hawser } from './hawser.ts';
import type { Condition } from './optional-tools.ts';
import { steadyPort } from './ports.ts';

const PAGE = join(PROJECT, 'docs/reverse-proxy.md');
const BALANCER = join(PROJECT, 'scripts/compose/nginx.conf');
/** Debian has a package of its own for it, libnginx-mod-stream. */
const STREAM_MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so';
/** Debian installs nginx in a folder that is only on root's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;

export interface Nginx {
  port: number;
  /** The errors that it has printed so far. */
  errors(): string;
  stop(): Promise<void>;
}

/** The server's own authority issues nginx's certificate, so that clients trust the same authority as without nginx. */
export async function startNginx(hawser: Hawser): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-nginx-'));
  const port = await steadyPort();
  const pair = await issueServerCertificate(await readAuthority(hawser), ['localhost'], Date.now());
  const files = { certificate: join(folder, 'site.crt'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  writeFileSync(
    join(folder, 'hawser.conf'),
    siteFrom(PAGE, { port, upstream: hawser.server.port, ...files }),
  );
  return runNginx(folder, port, mainConfiguration(folder));
}

/**
 * @param folder belongs to nginx from now on, and is removed in the end
 * @param configuration the text of nginx.conf
 */
async function runNginx(folder: string, port: number, configuration: string): Promise<Nginx> {
  writeFileSync(join(folder, 'nginx.conf'), configuration);
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

/** Whether nginx is installed and can balance connections as they are. */
export function canBalance(): boolean {
  const { stderr } = spawnSync('nginx', ['-V'], { encoding: 'utf8', env: { PATH } });
  return / --with-stream( |$)/m.test(stderr ?? '') || existsSync(STREAM_MODULE);
}

/** For tests that use `startBalancer`. */
export function balancing(): Condition {
  return { isMet: canBalance(), otherwise: 'nginx with its module "stream" is not installed' };
}

/** Starts the nginx of scripts/compose in front of servers on these ports of this machine. TLS passes it as it is. */
export async function startBalancer(ports: readonly number[]): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-balancer-'));
  const port = await steadyPort();
  const shown = readFileSync(BALANCER, 'utf8');
  const [server = ''] = /^ *server hawser-1:8443.*\n/m.exec(shown) ?? [];
  const used = shown
    .replace(/^ *server hawser-\d:8443.*\n/gm, '')
    .replace('upstream hawser {\n', (start) =>
      [start, ...ports.map((each) => server.replace('hawser-1:8443', `127.0.0.1:${each}`))].join(''),
    )
    .replace('listen 8443', `listen 127.0.0.1:${port}`);
  const module = existsSync(STREAM_MODULE) ? `load_module ${STREAM_MODULE};\n` : '';
  const own = `daemon off;\npid ${folder}/nginx.pid;\n${asRoot()}`;
  return runNginx(folder, port, `${module}${own}${used}`);
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
  return `${asRoot()}daemon off;
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

/** Otherwise an nginx that root started changes to another user, who may not enter the folder. */
function asRoot(): string {
  return process.getuid?.() === 0 ? 'user root;\n' : '';
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
