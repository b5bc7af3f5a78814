/**
 * A DSC v3 agent as section 12 of the contract describes it. It makes the same calls in the same order, with the same
 * members, spelling and certificates, and nothing else. The bytes that it sends are those of .NET's HttpClient.
 */

import { X509Certificate } from 'node:crypto';
import { Agent, request } from 'node:https';
import type { Clock } from '../../src/lib/clock.ts';
import type { Identity, Target } from './client.ts';
import { makeClientCertificate } from './client-certificates.ts';
import { unzipTexts } from './unzip.ts';

export interface AgentOptions {
  target: Target;
  clock: Clock;
  /** The common name of its certificates. */
  machineName: string;
  fqdn: string;
  /** Members that an agent of a later release sends with every body. */
  laterMembers?: Record<string, unknown>;
}

/** One run of the DSC engine: the bundle's files, the entry point among them, and its parameters. */
export interface Run {
  operation: 'Test' | 'Set';
  files: Record<string, string>;
  entryPoint: string;
  parametersFile: string | null;
}

/** Stands for the engine. What it returns is reported unchanged. */
export type Engine = (run: Run) => { hadErrors: boolean; results?: unknown[] };

export interface AgentCall {
  /** The method, and the path after the node's own, such as `PUT lcm-status`. */
  name: string;
  status: number;
  /** The text of a refusal, which the agent logs; null if the call succeeded. */
  refusal: string | null;
}

interface Response {
  status: number;
  bytes: Buffer;
}

export class LcmAgent {
  /** Every call since the agent started, or since a test emptied this list. */
  readonly calls: AgentCall[] = [];
  nodeId: string | null = null;
  checksum: string | null = null;
  files: Record<string, string> = {};
  entryPoint = '';
  parametersFile: string | null = null;
  configurationMode = 'Monitor';
  configurationModeInterval = '00:15:00';
  reportCompliance = true;
  certificateRotationInterval = '60.00:00:00';
  private readonly options: AgentOptions;
  private readonly connections: Agent[] = [];
  private http: Agent;
  private own: X509Certificate | null = null;
  private next: Identity | null = null;

  constructor(options: AgentOptions) {
    this.options = options;
    this.http = this.connect();
  }

  get certificate(): X509Certificate {
    if (this.own === null) throw new Error('the agent has no certificate yet');
    return this.own;
  }

  /** Before the agent has a certificate, this tells how long the first one must last. */
  async readPublicSettings(): Promise<void> {
    const response = await this.call('GET', '/api/v1/settings/public');
    const interval = readText(response, 'certificateRotationInterval');
    if (interval !== null) this.certificateRotationInterval = interval;
  }

  async register(registrationKey: string): Promise<void> {
    this.use(await this.makeCertificate());
    const response = await this.call('POST', '/api/v1/nodes/register', {
      registrationKey,
      fqdn: this.options.fqdn,
      configurationSource: 'Pull',
      configurationMode: this.configurationMode,
      configurationModeInterval: this.configurationModeInterval,
      reportCompliance: this.reportCompliance,
    });
    this.nodeId = readText(response, 'nodeId');
  }

  /** What the agent does each time its interval is over. */
  async cycle(engine: Engine): Promise<void> {
    this.takeUpNextCertificate();
    await this.readConfig();
    if (this.isRotationDue()) await this.rotate();
    await this.pull();
    if (this.checksum !== null) await this.apply(engine);
    const { configurationMode, configurationModeInterval, reportCompliance } = this;
    const reported = { configurationMode, configurationModeInterval, reportCompliance };
    await this.callOwn('PUT', 'reported-config', reported);
  }

  /** Ends the agent's connections, as a restart of its service would. */
  disconnect(): void {
    for (const connection of this.connections) connection.destroy();
  }

  private async readConfig(): Promise<void> {
    const response = await this.callOwn('GET', 'lcm-config');
    this.configurationMode = readText(response, 'configurationMode') ?? this.configurationMode;
    this.configurationModeInterval =
      readText(response, 'configurationModeInterval') ?? this.configurationModeInterval;
    const reportCompliance = readMember(response, 'reportCompliance');
    if (typeof reportCompliance === 'boolean') this.reportCompliance = reportCompliance;
    this.certificateRotationInterval =
      readText(response, 'certificateRotationInterval') ?? this.certificateRotationInterval;
  }

  private isRotationDue(): boolean {
    const madeAt = Date.parse(this.certificate.validFrom);
    return this.options.clock.now() >= madeAt + toMilliseconds(this.certificateRotationInterval);
  }

  /** The next cycle uses the new certificate. Until then the open connections stay in use. */
  private async rotate(): Promise<void> {
    const identity = await this.makeCertificate();
    const certificate = new X509Certificate(identity.cert);
    const response = await this.callOwn('POST', 'rotate-certificate', {
      certificateThumbprint: sha1Of(certificate),
      certificateSubject: certificate.subject,
      certificateNotAfter: withOffset(Date.parse(certificate.validTo)),
    });
    if (isSuccess(response)) this.next = identity;
  }

  private takeUpNextCertificate(): void {
    if (this.next !== null) this.use(this.next);
    this.next = null;
  }

  private async pull(): Promise<void> {
    const offered = readText(await this.readChecksum(), 'checksum');
    if (offered === null || offered === this.checksum) return;
    await this.setStatus('Downloading');
    const bundle = await this.callOwn('GET', 'configuration/bundle');
    if (!isSuccess(bundle)) return;
    const described = await this.readChecksum();
    this.checksum = readText(described, 'checksum');
    this.entryPoint = readText(described, 'entryPoint') ?? '';
    this.parametersFile = readText(described, 'parametersFile');
    this.files = await unzipTexts(bundle.bytes);
  }

  private readChecksum(): Promise<Response> {
    return this.callOwn('GET', 'configuration/checksum');
  }

  private async apply(engine: Engine): Promise<void> {
    await this.setStatus('Testing');
    let result = await this.run(engine, 'Test');
    if (this.configurationMode === 'Remediate' && !result.hadErrors) {
      await this.setStatus('Remediating');
      result = await this.run(engine, 'Set');
    }
    await this.setStatus(result.hadErrors ? 'Error' : 'Idle');
  }

  private async run(engine: Engine, operation: 'Test' | 'Set'): Promise<ReturnType<Engine>> {
    const { files, entryPoint, parametersFile } = this;
    const result = engine({ operation, files, entryPoint, parametersFile });
    if (this.reportCompliance) await this.callOwn('POST', 'reports', { operation, result });
    return result;
  }

  private async setStatus(lcmStatus: string): Promise<void> {
    await this.callOwn('PUT', 'lcm-status', { lcmStatus });
  }

  /** Makes an RSA-2048 certificate that lasts half a rotation interval longer than needed. */
  private makeCertificate(): Promise<Identity> {
    const notBefore = this.options.clock.now();
    const notAfter = notBefore + 1.5 * toMilliseconds(this.certificateRotationInterval);
    return makeClientCertificate({ commonName: this.options.machineName, notBefore, notAfter, rsa: true });
  }

  private use(identity: Identity): void {
    this.own = new X509Certificate(identity.cert);
    this.http = this.connect(identity);
  }

  private connect(identity?: Identity): Agent {
    const agent = new Agent({ keepAlive: true, ca: this.options.target.ca, ...identity });
    this.connections.push(agent);
    return agent;
  }

  private callOwn(method: string, path: string, body?: object): Promise<Response> {
    return this.call(method, `/api/v1/nodes/${this.nodeId}/${path}`, body);
  }

  private async call(method: string, path: string, body?: object): Promise<Response> {
    const sent = body && { ...body, ...this.options.laterMembers };
    const response = await send(this.http, this.options.target.port, { method, path, body: sent });
    const name = `${method} ${path.replace(/^\/api\/v1\/(nodes\/[0-9a-f-]{36}\/)?/, '')}`;
    const refusal = isSuccess(response) ? null : response.bytes.toString('utf8');
    this.calls.push({ name, status: response.status, refusal });
    return response;
  }
}

/** Sends the body in chunks without a length, because HttpClient does not know how long its JSON will be. */
function send(
  agent: Agent,
  port: number,
  { method, path, body }: { method: string; path: string; body: object | undefined },
): Promise<Response> {
  const headers =
    body && ({ 'Content-Type': 'application/json; charset=utf-8', 'Transfer-Encoding': 'chunked' } as const);
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: 'localhost', port, method, path, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, bytes: Buffer.concat(chunks) }));
    });
    outgoing.on('error', reject);
    outgoing.end(body && toDotNetJson(body));
  });
}

/** System.Text.Json escapes every character that could mean something in HTML, such as the plus sign of an offset. */
function toDotNetJson(body: object): string {
  return JSON.stringify(body).replace(
    /[^\x20-\x7e]|[&'+<>`]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}

const isSuccess = ({ status }: Response) => status >= 200 && status < 300;

/** The member of a successful answer with exactly this name; null if it is missing. */
function readMember(response: Response, name: string): unknown {
  if (!isSuccess(response)) return null;
  return JSON.parse(response.bytes.toString('utf8'))[name] ?? null;
}

function readText(response: Response, name: string): string | null {
  const value = readMember(response, name);
  return typeof value === 'string' ? value : null;
}

/** The SHA-1 in upper-case hexadecimal, which .NET calls the thumbprint. */
export function sha1Of(certificate: X509Certificate): string {
  return certificate.fingerprint.replaceAll(':', '');
}

/** A local time as .NET writes it on a machine in Berlin in winter. */
function withOffset(time: number): string {
  return new Date(time + 3_600_000).toISOString().replace(/\.\d+Z$/, '+01:00');
}

/** Reads .NET's constant form of a time span; the agent reads no other form. */
function toMilliseconds(timeSpan: string): number {
  const match = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(?:\.\d{7})?$/.exec(timeSpan);
  if (match === null) throw new Error(`no time span: ${timeSpan}`);
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((digits) => Number(digits ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
}
