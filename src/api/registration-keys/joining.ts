/** Makes the line that joins a machine, for those who make a registration key. */

import { X509Certificate } from 'node:crypto';
import type { Config } from '../../config.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { KeyedCertificate } from '../../security/certificate-authority.ts';
import { JOIN_PROGRAM } from './join-program.ts';

interface Options {
  config: Pick<Config, 'publicUrl' | 'tls' | 'proxies'>;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
  clientFiles: { get(name: 'hawser-agent.mjs'): { digest: string } | undefined };
}

export class Joining {
  private readonly server: string;
  private readonly trust: string;
  private readonly digest: string;

  /**
   * @param server where the machines reach the server
   * @param trust the SHA-256 of the authority that they trust as hex digits; `system`: those that Node trusts
   * @param digest the SHA-256 of the agent as hex digits
   */
  constructor({ server, trust, digest }: { server: string; trust: string; digest: string }) {
    this.server = server;
    this.trust = trust;
    this.digest = digest;
  }

  /** The key goes by the environment, because everybody on the machine may read the arguments of its programs. */
  commandFor(key: string): string {
    const given = [this.server, this.trust, this.digest].map(quote).join(' ');
    return `HAWSER_AGENT_REGISTRATION_KEY=${quote(key)} node -e ${quote(JOIN_PROGRAM)} ${given}`;
  }
}

/** A word of a shell. The name of a server may have a quote in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * @returns null where the machines' way to the server is not known or is not TLS, where the agent was not built, and with a
 *   node CA, because the agent makes its own certificate, which such a server does not take
 */
export function joiningBy({
  config: { publicUrl, tls, proxies },
  authority,
  issuesCertificates,
  clientFiles,
}: Options): Joining | null {
  const agent = clientFiles.get('hawser-agent.mjs');
  if (!publicUrl?.startsWith('https:') || !issuesCertificates || agent === undefined) return null;
  // A proxy shows a certificate of its own, and one that the operator gives may come from any authority.
  const isOwn = tls.isOn && tls.certFile === null && proxies.trusted.length === 0;
  const trust = isOwn ? sha256Hex(new X509Certificate(authority.certificate).raw) : 'system';
  return new Joining({ server: publicUrl, trust, digest: agent.digest });
}
