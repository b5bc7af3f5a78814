/** Runs a real HAProxy in front of several servers under test, with the configuration of scripts/compose. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';
import { steadyPort } from './ports.ts';
import { type ProxyProgram, runProxy } from './proxy-program.ts';

const CONFIGURATION = join(PROJECT, 'scripts/compose/haproxy.cfg');

/**
 * Starts HAProxy in front of servers on these ports of this machine. TLS passes it as it is.
 * @param authority the path of the certificate of the authority that all servers have
 */
export async function startBalancer(ports: readonly number[], authority: string): Promise<ProxyProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-balancer-'));
  const port = await steadyPort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configurationFor(ports, authority, port));
  return runProxy('haproxy', ['-db', '-f', file], { port, folder });
}

/** Takes the configuration as it is printed, and changes only addresses and the path of the authority. */
function configurationFor(ports: readonly number[], authority: string, port: number): string {
  const servers = ports.map((each, at) => `  server hawser-${at + 1} 127.0.0.1:${each}\n`).join('');
  return readFileSync(CONFIGURATION, 'utf8')
    .replace(/( +server hawser-\d hawser-\d:8443\n)+/g, servers)
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replace('/etc/haproxy/ca.crt', authority);
}
