/** Stock `openssl` as the second opinion of these tests, and a node CA with a revocation list made by it. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Workspace {
  readonly path = mkdtempSync(join(tmpdir(), 'hawser-tls-'));

  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string): string {
    writeFileSync(this.file(name), content);
    return this.file(name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** Runs openssl in the folder; throws with its output when it fails. */
  openssl(...args: string[]): string {
    return execFileSync('openssl', args, {
      cwd: this.path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** A new certificate, signed by one of this folder. @param extensions lines of an openssl configuration */
  sign(name: string, issuer: string, extensions: string, ...more: string[]): string {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
    this.openssl('req', '-new', ...key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    this.write(`${name}.ext`, extensions);
    const by = ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`, '-CAcreateserial', '-days', '5', ...more];
    const files = ['-in', `${name}.csr`, '-extfile', `${name}.ext`, '-out', `${name}.crt`];
    this.openssl('x509', '-req', ...by, ...files);
    return this.read(`${name}.crt`);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface Pair {
  cert: string;
  key: string;
}

const CA_CONFIG = `
[ca]
default_ca = d
[d]
dir = .
database = index.txt
new_certs_dir = .
serial = serial
crlnumber = crlnumber
default_md = sha256
policy = p
certificate = ca.crt
private_key = ca.key
default_crl_days = 10
unique_subject = no
[p]
commonName = supplied
[client]
basicConstraints = CA:false
extendedKeyUsage = clientAuth
[server]
basicConstraints = CA:false
extendedKeyUsage = serverAuth
`;

/** An authority of somebody else's making, as `HAWSER_NODE_CA` names one. */
export class OpensslAuthority {
  private readonly space: Workspace;
  private made = 0;

  constructor(space: Workspace, name = 'Fleet CA') {
    this.space = space;
    space.write('ca.cnf', CA_CONFIG);
    space.write('index.txt', '');
    space.write('serial', '1000\n');
    space.write('crlnumber', '01\n');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'ca.key'];
    space.openssl('req', '-x509', ...key, '-out', 'ca.crt', '-subj', `/CN=${name}`, '-days', '30');
  }

  get certificate(): string {
    return this.space.read('ca.crt');
  }

  /** @param dates `-startdate` and `-enddate` of `openssl ca`, in its own form. */
  issue(extensions: 'client' | 'server' = 'client', ...dates: string[]): Pair {
    this.made += 1;
    const name = `node-${this.made}`;
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
    this.space.openssl('req', '-new', ...key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const term = dates.length > 0 ? dates : ['-days', '5'];
    const files = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-notext', '-extensions', extensions];
    this.space.openssl('ca', '-config', 'ca.cnf', '-batch', ...files, ...term);
    return { cert: this.space.read(`${name}.crt`), key: this.space.read(`${name}.key`) };
  }

  revoke(pair: Pair): void {
    this.space.write('revoked.crt', pair.cert);
    this.space.openssl('ca', '-config', 'ca.cnf', '-revoke', 'revoked.crt');
  }

  crl(...options: string[]): string {
    this.space.openssl('ca', '-config', 'ca.cnf', '-gencrl', '-out', 'crl.pem', ...options);
    return this.space.read('crl.pem');
  }
}
