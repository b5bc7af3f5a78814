/** The calls that a node makes. Members of an answer that are not known here are ignored. */

import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';
import type { Clock } from '../lib/clock.ts';
import type { Connection, Downloaded, Received } from './connection.ts';
import { parseHttpDate, parseRetryAfter } from './schedule.ts';

export type LcmStatus = 'Idle' | 'Downloading' | 'Testing' | 'Remediating' | 'Error';

/** What the server wants of the node. Null stands for no wish, and for one that cannot be read. */
export type LcmConfig = z.output<typeof LCM_CONFIG>;

/** What the node does, as it reports it. The interval is a duration in the form that `parseDuration` writes. */
export interface ReportedConfig {
  configurationMode: 'Monitor' | 'Remediate';
  configurationModeInterval: string;
  reportCompliance: boolean;
}

/** The bundle that the node should have, as the answer to a poll describes it. */
export type Polled = z.output<typeof POLLED>;

const Interval = z
  .string()
  .transform((text) => parseDuration(text))
  .nullable()
  .catch(null);

const LCM_CONFIG = z.object({
  configurationMode: z.enum(['Monitor', 'Remediate']).nullable().catch(null),
  configurationModeInterval: Interval,
  reportCompliance: z.boolean().nullable().catch(null),
  certificateRotationInterval: Interval,
});

const POLLED = z.object({
  // The checksum becomes the name of a folder, so nothing but a checksum is accepted.
  checksum: z.string().regex(/^[0-9a-f]{64}$/),
  entryPoint: z.string().min(1),
  parametersFile: z.string().min(1).nullable(),
  configurationName: z.string(),
  version: z.string(),
});

/** The tags of what the node should have. Nothing of it is believed: `signed-bundle.ts` checks it. */
export type SignatureAnswer = z.output<typeof SIGNATURE>;

export const SIGNATURE = z.object({
  checksum: z.string(),
  configurationName: z.string(),
  version: z.string(),
  isComposite: z.boolean(),
  parts: z.array(
    z.object({
      configurationName: z.string(),
      version: z.string(),
      folder: z.string(),
      tagObject: z.string(),
    }),
  ),
});

const REGISTERED = z.object({ nodeId: z.guid() });
const CERTIFICATE = z.object({ certificate: z.string() });
const PROBLEM = z.object({ code: z.string(), detail: z.string() }).partial();

const NO_V1 = 'the server does not speak version 1 of the API of Hawser';

const NEXT_STEPS: Readonly<Record<string, string>> = {
  registration_key_rejected:
    'Ask for another key or a line with one (hawserctl key create --join, or Registration keys in the console), and register again',
  node_exists:
    'If this machine was set up anew, ask for a key with allowReregistration; else give it another name in HAWSER_AGENT_NAME',
};

/** The server has answered with a status that is no success. */
export class Refusal extends Error {
  readonly status: number;
  /** The code of the problem; empty where the answer is not a problem of Hawser. */
  readonly code: string;
  /** What the server says of it; may be empty. */
  readonly detail: string;
  /** How many milliseconds the node should wait; null where the server does not say. */
  readonly retryAfter: number | null;

  constructor(call: string, { status, headers, body }: Received, now: number) {
    const { code = '', detail = '' } = parseJson(PROBLEM, body) ?? {};
    // Version 1 answers no call of a node with this code. A server without version 1 does, and others send no problem.
    const isForeign = status === 404 && (code === '' || code === 'not_found');
    // The code would only say that the path is wrong, which it is not.
    const shown = isForeign ? '' : code;
    super(`${call}: ${status} ${shown} ${isForeign ? NO_V1 : detail}`.trim());
    this.name = 'Refusal';
    this.status = status;
    this.code = shown;
    this.detail = isForeign ? NO_V1 : detail;
    const serverTime = headers.date === undefined ? null : parseHttpDate(headers.date);
    this.retryAfter = parseRetryAfter(headers['retry-after'], serverTime ?? now);
  }

  /** What a person can do about it; null where the detail says it, or nobody here can do anything. */
  get nextStep(): string | null {
    return NEXT_STEPS[this.code] ?? null;
  }

  /** Whether the same call can succeed later. */
  get isTemporary(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }

  /** Whether the server will never take what was sent. A 401 is about the certificate, not about what was sent. */
  get isForGood(): boolean {
    return this.status >= 400 && this.status !== 401 && !this.isTemporary;
  }
}

/** What a node lacks that gets no bundle at present: an assignment, or a published version that fits. */
export type Lack = 'assignment' | 'version';

const LACKS: ReadonlyMap<string, Lack> = new Map([
  ['no_configuration_assigned', 'assignment'],
  ['no_eligible_version', 'version'],
]);

interface SendOptions {
  headers?: Record<string, string>;
  /** Statuses that count as an answer although they are no success. */
  passes?: readonly number[];
}

/** The calls of one node. All of them throw `Refusal`, or the system's error when the server cannot be reached. */
export class NodeApi {
  private readonly connection: Connection;
  private readonly clock: Clock;
  private readonly path: string;

  /** @param nodeId null before the registration, when `register` is the only call */
  constructor(connection: Connection, clock: Clock, nodeId: string | null) {
    this.connection = connection;
    this.clock = clock;
    this.path = `/api/v1/nodes/${nodeId}`;
  }

  /** @returns the node's id, which is the same each time for the same certificate and name */
  async register(registrationKey: string, fqdn: string, reported: ReportedConfig): Promise<string> {
    const body = { registrationKey, fqdn, configurationSource: 'Pull', ...reported };
    return this.read(REGISTERED, await this.send('POST', '/api/v1/nodes/register', body)).nodeId;
  }

  async lcmConfig(): Promise<LcmConfig> {
    return this.read(LCM_CONFIG, await this.send('GET', `${this.path}/lcm-config`));
  }

  /**
   * @param checksum of the bundle that the node has
   * @returns 'same' when the node has what it should have, or what it lacks when the server has no bundle for it
   */
  async poll(checksum: string | null): Promise<Polled | 'same' | Lack> {
    const headers: Record<string, string> = checksum === null ? {} : { 'If-None-Match': `"${checksum}"` };
    const path = `${this.path}/configuration/checksum`;
    try {
      const received = await this.send('GET', path, undefined, { headers, passes: [304] });
      return received.status === 304 ? 'same' : this.read(POLLED, received);
    } catch (error) {
      const lack = error instanceof Refusal ? LACKS.get(error.code) : undefined;
      if (lack !== undefined) return lack;
      throw error;
    }
  }

  /** @param limit the most bytes that the bundle may have */
  async downloadBundle(file: string, limit: number): Promise<Downloaded> {
    const path = `${this.path}/configuration/bundle`;
    const received = await this.connection.download(path, file, limit);
    this.requireSuccess(`GET ${path}`, received);
    return received;
  }

  /** @returns 'none' where the server knows no such call, 'unreadable' where its answer is another than the contract's */
  async signature(): Promise<SignatureAnswer | 'none' | 'unreadable'> {
    try {
      const { body } = await this.send('GET', `${this.path}/configuration/signature`);
      return parseJson(SIGNATURE, body) ?? 'unreadable';
    } catch (error) {
      // A server of before signatures says `not_found`, which is no code of a node's calls.
      if (error instanceof Refusal && error.status === 404 && error.code === '') return 'none';
      throw error;
    }
  }

  async putStatus(lcmStatus: LcmStatus): Promise<void> {
    await this.send('PUT', `${this.path}/lcm-status`, { lcmStatus });
  }

  async putReportedConfig(reported: ReportedConfig): Promise<void> {
    await this.send('PUT', `${this.path}/reported-config`, reported);
  }

  /** @param report a report as JSON text */
  async postReport(report: string): Promise<void> {
    await this.send('POST', `${this.path}/reports`, report);
  }

  async announce(certificate: string): Promise<void> {
    await this.send('POST', `${this.path}/rotate-certificate`, { certificate });
  }

  /** @returns the issued certificate as PEM */
  async requestCertificate(csr: string): Promise<string> {
    return this.read(CERTIFICATE, await this.send('POST', `${this.path}/rotate-certificate`, { csr }))
      .certificate;
  }

  private async send(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, passes = [] }: SendOptions = {},
  ): Promise<Received> {
    const json = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const received = await this.connection.call(method, path, { json, headers });
    if (!passes.includes(received.status)) this.requireSuccess(`${method} ${path}`, received);
    return received;
  }

  private requireSuccess(call: string, received: Received): void {
    if (received.status < 200 || received.status > 299) throw new Refusal(call, received, this.clock.now());
  }

  private read<T>(schema: z.ZodType<T>, { body }: Received): T {
    const value = parseJson(schema, body);
    if (value === null) throw new Error(NO_V1);
    return value;
  }
}

/** Reads the kept answer of a poll from JSON; null when the text is not one. */
export function parsePolled(json: string): Polled | null {
  return parseJson(POLLED, Buffer.from(json));
}

function parseJson<T>(schema: z.ZodType<T>, body: Buffer): T | null {
  try {
    return schema.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
