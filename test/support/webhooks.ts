/** Webhooks, and receivers of them that are real servers with TLS. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signedHeaders } from '../../src/events/signature.ts';
import { SECOND } from '../../src/lib/clock.ts';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';
import type { Client } from './client.ts';
import { eventually } from './eventually.ts';
import { ok } from './replies.ts';

export const WEBHOOKS = '/api/v1/webhooks';
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A webhook that nothing can reach, with an event that waits for it. */
export async function prepareWebhook(admin: Client): Promise<{ webhookId: string; deliveryId: string }> {
  const wanted = { url: 'https://127.0.0.1:9/', events: ['composite.created'], secret: SECRET };
  const webhook = await ok(201, admin.post(WEBHOOKS, wanted));
  await ok(201, admin.post('/api/v1/composite-configurations', { name: 'told-to-others' }));
  const [delivery] = await eventually(async () => {
    const found = await ok(200, admin.get(`${WEBHOOKS}/${webhook.id}/deliveries`));
    if (found.length === 0) throw new Error('no event has come to the outbox yet');
    return found;
  });
  return { webhookId: webhook.id, deliveryId: delivery.id };
}

/** After this the deliveries of the webhook stay as they are. Until then each further attempt changes them. */
export async function stopSending(admin: Client, webhookId: string): Promise<void> {
  const path = `${WEBHOOKS}/${webhookId}`;
  await eventually(async () => {
    const [delivery] = await ok(200, admin.get(`${path}/deliveries`));
    if (delivery.attempts === 0) throw new Error('the first attempt has not ended yet');
  });
  const { url, events } = await ok(200, admin.get(path));
  await ok(200, admin.put(path, { url, events, isActive: false }));
}

export interface Received {
  headers: IncomingMessage['headers'];
  /** As it came. */
  body: string;
  event: { id: string; type: string; subject: string; source: string; data: Record<string, unknown> };
}

/** Whether the server has signed it with this secret. */
export function isSigned({ headers, body, event }: Received, secret: string): boolean {
  const at = Number(headers['webhook-timestamp']) * SECOND;
  const { 'webhook-signature': signature } = signedHeaders(secret, event.id, at, body);
  return headers['webhook-signature'] === signature;
}

/** Says what is answered, or answers nothing if it gives null. */
export type Answering = (received: Received, response: ServerResponse) => number | null;

/** An authority, in a file as the settings have it. */
export class ReceiverAuthority {
  readonly file: string;
  private readonly folder: string;
  private readonly authority: Awaited<ReturnType<typeof createAuthority>>;

  private constructor(authority: Awaited<ReturnType<typeof createAuthority>>) {
    this.authority = authority;
    this.folder = mkdtempSync(join(tmpdir(), 'hawser-receiver-'));
    this.file = join(this.folder, 'ca.pem');
    writeFileSync(this.file, authority.certificate);
  }

  static async make(): Promise<ReceiverAuthority> {
    return new ReceiverAuthority(await createAuthority(Date.now()));
  }

  get pem(): string {
    return this.authority.certificate;
  }

  async certified(names: readonly string[]): Promise<{ key: string; cert: string }> {
    const { certificate, key } = await issueServerCertificate(this.authority, names, Date.now());
    return { key, cert: certificate };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Receiver {
  readonly received: Received[] = [];
  answering: Answering = () => 204;
  /** The connections that were made, whether or not something came over them. */
  connections = 0;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    server.on('connection', () => {
      this.connections += 1;
    });
    server.on('request', (request, response) => void this.take(request, response));
  }

  static async start(
    authority: ReceiverAuthority,
    { name = 'localhost', host = '127.0.0.1', port = 0 } = {},
  ): Promise<Receiver> {
    const receiver = new Receiver(createServer(await authority.certified([name])));
    receiver.server.listen(port, host);
    await once(receiver.server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(name = 'localhost'): string {
    return `https://${name}:${this.port}/hook`;
  }

  /** What came of a subject, in its order. */
  of(subject: string): Received[] {
    return this.received.filter(({ event }) => event.subject === subject);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => '');
    if (body === '') return;
    const received = { headers: request.headers, body, event: JSON.parse(body) };
    this.received.push(received);
    const status = this.answering(received, response);
    if (status !== null) response.writeHead(status).end();
  }
}
