/** Runs a real nginx in front of a server under test, with the configuration of docs/reverse-proxy.md. */

import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { readAuthority } from './authority.ts';
import type { Hawser } from './hawser.ts';
import { steadyPort } from './ports.ts';
import { type Replacement, readBlocks, replaced } from './proxy-page.ts';
import { type ProxyProgram, runProxy } from './proxy-program.ts';

/** The server's own authority issues nginx's certificate, so that clients trust the same authority as without nginx. */
export async function startNginx(hawser: Hawser): Promise<ProxyProgram> {
  const pair = await issueServerCertificate(await readAuthority(hawser), ['localhost'], Date.now());
  return startWith(pair, siteOf(readBlocks('nginx')), [
    ['127.0.0.1:8080', `127.0.0.1:${hawser.server.port}`],
  ]);
}

/**
 * Starts nginx in front of two servers as the page says for several.
 * @param dataDir that of one of them, whose certificate nginx shows too
 */
export function startNginxBeforeTwo(
  ports: readonly [number, number],
  dataDir: string,
): Promise<ProxyProgram> {
  const read = (name: string) => readFileSync(join(dataDir, 'tls', name), 'utf8');
  const blocks = readBlocks('nginx');
  const [upstream = '', locations = ''] = blocks.slice(-2);
  const site = siteOf(blocks)
    .replace(/^upstream .*?^}\n/ms, () => upstream)
    .replace(/^ {2}location .*^ {2}}\n/ms, () => locations);
  return startWith({ certificate: read('server.crt'), key: read('server.key') }, site, [
    ['hawser-1.example.org:8443', `127.0.0.1:${ports[0]}`],
    ['hawser-2.example.org:8443', `127.0.0.1:${ports[1]}`],
    ['/etc/nginx/tls/hawser-ca.crt', join(dataDir, 'tls/ca.crt')],
    ['proxy_ssl_name hawser.example.org', 'proxy_ssl_name localhost'],
  ]);
}

/** @param replacements of what differs in addition to nginx's own port and certificate */
async function startWith(
  pair: { certificate: string; key: string },
  site: string,
  replacements: readonly Replacement[],
): Promise<ProxyProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-nginx-'));
  const port = await steadyPort();
  const files = { certificate: join(folder, 'site.crt'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  const all: Replacement[] = [
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['/etc/nginx/tls/hawser.crt', files.certificate],
    ['/etc/nginx/tls/hawser.key', files.key],
    ...replacements,
  ];
  writeFileSync(join(folder, 'hawser.conf'), all.reduce(replaced, site));
  writeFileSync(join(folder, 'nginx.conf'), mainConfiguration(folder));
  const words = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  return runProxy('nginx', words, { port, folder });
}

function siteOf([site]: readonly string[]): string {
  if (site === undefined) throw new Error('the page shows no configuration');
  return site;
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
