/** Runs a real Apache in front of a server under test, with the configuration of docs/reverse-proxy.md. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { readAuthority } from './authority.ts';
import type { Hawser } from './hawser.ts';
import { isProgram } from './optional-tools.ts';
import { steadyPort } from './ports.ts';
import { readBlock, replaced } from './proxy-page.ts';
import { PROXY_PATH, type ProxyProgram, runProxy } from './proxy-program.ts';

/** Those that Debian always loads, then those that the page names. */
const MODULES = ['mpm_event', 'authz_core', 'ssl', 'headers', 'proxy', 'proxy_http'];

/** The server's own authority issues Apache's certificate, so that clients trust the same authority as without Apache. */
export async function startApache(hawser: Hawser): Promise<ProxyProgram> {
  const pair = await issueServerCertificate(await readAuthority(hawser), ['localhost'], Date.now());
  const folder = mkdtempSync(join(tmpdir(), 'hawser-apache-'));
  const port = await steadyPort();
  const files = { certificate: join(folder, 'site.crt'), key: join(folder, 'site.key') };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  const site = [
    ['<VirtualHost *:443>', `<VirtualHost 127.0.0.1:${port}>`] as const,
    ['ServerName hawser.example.org', 'ServerName localhost'] as const,
    ['/etc/apache2/tls/hawser.crt', files.certificate] as const,
    ['/etc/apache2/tls/hawser.key', files.key] as const,
    ['http://127.0.0.1:8080/', `http://127.0.0.1:${hawser.server.port}/`] as const,
  ].reduce(replaced, readBlock('apache'));
  const main = join(folder, 'apache2.conf');
  writeFileSync(main, `${mainConfiguration(folder, port)}\n${site}`);
  return runProxy('apache2', ['-f', main, '-DFOREGROUND'], { port, folder });
}

/** A main configuration like Debian's, in a temporary folder. */
function mainConfiguration(folder: string, port: number): string {
  const modules = MODULES.map((name) => `LoadModule ${name}_module ${modulesFolder()}/mod_${name}.so`);
  return `ServerRoot ${folder}
ServerName localhost
DefaultRuntimeDir ${folder}
PidFile ${folder}/apache2.pid
ErrorLog ${folder}/error.log
LogLevel warn
${asRoot()}${modules.join('\n')}
Listen 127.0.0.1:${port}
`;
}

/** Apache does not serve as root. Its first process has read the key by then. */
function asRoot(): string {
  return process.getuid?.() === 0 ? 'User nobody\nGroup nogroup\n' : '';
}

/** Debian has them in a folder of their own beside that of its libraries. */
function modulesFolder(): string {
  const programs =
    PROXY_PATH.split(delimiter).find((each) => isProgram(join(each, 'apache2'))) ?? '/usr/sbin';
  return join(dirname(programs), 'lib/apache2/modules');
}
