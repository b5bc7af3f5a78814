/** Runs a real nginx in front of a server under test, with the configuration of docs/reverse-proxy.md. */

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';
import { issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { readAuthority } from './authority.ts';
import type { Hawser } from './hawser.ts';
import { steadyPort } from './ports.ts';
import { type ProxyProgram, runProxy } from './proxy-program.ts';

const PAGE = join(PROJECT, 'docs/reverse-proxy.md');

/** The server's own authority issues nginx's certificate, so that clients trust the same authority as without nginx. */
export async function startNginx(hawser: Hawser): Promise<ProxyProgram> {
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
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(folder));
  return runProxy('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    port,
    folder,
  });
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
