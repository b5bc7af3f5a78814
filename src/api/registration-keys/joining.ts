/** Makes the lines that join machines, for those who have a registration key. */

import { X509Certificate } from 'node:crypto';
import type { Config } from '../../config.ts';
import { conflict, type HawserError } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { KeyedCertificate } from '../../security/certificate-authority.ts';
import type { JoinLine } from './join-facts.ts';
import { powershellJoin } from './join-powershell.ts';
import { shellJoin } from './join-shell.ts';

export type JoinShell = 'sh' | 'powershell';

interface Options {
  config: Pick<Config, 'publicUrl' | 'tls' | 'proxies' | 'port' | 'ui'>;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
  clientFiles: { get(name: 'hawser-agent.mjs'): { digest: string } | undefined };
}

const GUESSED =
  'this address is the one by which the line was asked for, because HAWSER_PUBLIC_URL is not set at the server';

const UNCHECKED =
  'The agent of OpenDSC checks no signatures, and this key has signers. Make the line for sh, or another key without signers.';

export class Joining {
  private readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  /**
   * The line for a POSIX shell. Null where the address is not known, and where there is no line.
   * @param signers who may sign what the agent runs
   */
  commandFor(key: string, signers: string | null = null): string | null {
    const { publicUrl } = this.options.config;
    if (publicUrl === null || this.obstacle(publicUrl, 'sh') !== null) return null;
    return this.make(publicUrl, 'sh', key, signers).line;
  }

  /**
   * @param host the name and the port by which the line is asked for, where `HAWSER_PUBLIC_URL` is not set
   * @throws HawserError `no_join_line`
   */
  lineFor(key: string, shell: JoinShell, host: string, signers: string | null = null): JoinLine {
    const server = this.options.config.publicUrl ?? this.serverAt(host);
    const obstacle = this.obstacle(server, shell);
    if (obstacle !== null) throw obstacle;
    if (signers !== null && shell === 'powershell') throw noLine(UNCHECKED);
    return this.make(server, shell, key, signers);
  }

  private make(server: string, shell: JoinShell, key: string, signers: string | null): JoinLine {
    const { config, clientFiles } = this.options;
    const digest = clientFiles.get('hawser-agent.mjs')?.digest ?? '';
    const note = config.publicUrl === null ? GUESSED : null;
    return JOIN_BY[shell]({ server, trust: this.trust(), digest, note, signers }, key);
  }

  private trust(): string {
    const { config, authority } = this.options;
    // A proxy shows a certificate of its own, and one that the operator gives may come from any authority.
    const isOwn = config.tls.isOn && config.tls.certFile === null && config.proxies.trusted.length === 0;
    return isOwn ? sha256Hex(new X509Certificate(authority.certificate).raw) : 'system';
  }

  private obstacle(server: string, shell: JoinShell): HawserError | null {
    const { issuesCertificates, clientFiles } = this.options;
    if (!server.startsWith('https:'))
      return noLine(
        `Agents send nothing without TLS, and ${server} has none. Set HAWSER_PUBLIC_URL to https://...`,
      );
    if (!issuesCertificates)
      return noLine(
        'With HAWSER_NODE_CA each machine needs a certificate of that authority first. Register it as docs/mutual-tls.md says.',
      );
    if (shell === 'sh' && clientFiles.get('hawser-agent.mjs') === undefined)
      return noLine('This server was built without the agent. Run npm run build, and restart it.');
    return null;
  }

  /** The port of the console takes no certificates of nodes. */
  private serverAt(host: string): string {
    const { tls, proxies, port, ui } = this.options.config;
    // Behind a proxy that ends TLS, whoever asks came by TLS to the proxy.
    const url = `${tls.isOn || proxies.trusted.length > 0 ? 'https' : 'http'}://${host}`;
    if (!URL.canParse(url))
      throw noLine('The header Host of this request is no address. Set HAWSER_PUBLIC_URL.');
    const server = new URL(url);
    if (ui.port !== null && server.port === String(ui.port)) server.port = String(port);
    return server.origin;
  }
}

const JOIN_BY = { sh: shellJoin, powershell: powershellJoin };

function noLine(detail: string): HawserError {
  return conflict('no_join_line', detail);
}
