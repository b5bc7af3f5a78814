/** HTTPS calls to one server. Nothing is sent before the server has proven that it is the trusted one. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { SECOND } from '../lib/clock.ts';
import { Interrupted, Unreachable } from './errors.ts';
import { describeFailure, hostOf, portOf } from './network.ts';
import { type Trust, tlsOptions } from './trust.ts';

export interface Outgoing {
  method: string;
  /** The query belongs to it. */
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const CONNECT_LIMIT = 20 * SECOND;
/** Some answers take their time, such as that to a large upload. */
const SILENCE_LIMIT = 120 * SECOND;
/** A change set may have 500 files, which are all judged before there is an answer. */
const CHANGE_SET_LIMIT = 600 * SECOND;

export class Connection {
  readonly url: URL;
  private readonly agent: Agent;

  /** @param url of which only the host and the port count */
  constructor(url: URL, trust: Trust) {
    this.url = url;
    this.agent = new Agent({ keepAlive: true, ...tlsOptions(trust) });
  }

  /**
   * Sends one request and reads the answer, whatever its status.
   * @throws Unreachable, Interrupted
   */
  async send(outgoing: Outgoing): Promise<Received> {
    try {
      return await this.sendOnce(outgoing);
    } catch (error) {
      // A server may close a connection that was kept at the moment at which it is used again.
      if (outgoing.method !== 'GET' || !(error instanceof StaleConnection)) throw error;
      return this.sendOnce(outgoing);
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private sendOnce({ method, path, headers, body }: Outgoing): Promise<Received> {
    return new Promise((resolve, reject) => {
      let isSent = false;
      const outgoing = request({
        ...{ agent: this.agent, host: hostOf(this.url), port: portOf(this.url), method, path },
        headers: { ...headers, ...(body && { 'Content-Length': String(body.length) }) },
        timeout: path.startsWith('/api/v1/change-sets') ? CHANGE_SET_LIMIT : SILENCE_LIMIT,
      });
      const impatience = () => outgoing.destroy(new Error('it does not answer'));
      const timer = setTimeout(impatience, CONNECT_LIMIT);
      const trusted = () => {
        isSent = true;
        clearTimeout(timer);
      };
      const fail = (error: Error) => {
        const text = describeBreak(this.url, error);
        if (!isSent) reject(new Unreachable(describeFailure(this.url, error), { cause: error }));
        else if (outgoing.reusedSocket) reject(new StaleConnection(text, { cause: error }));
        else reject(new Interrupted(text, { cause: error }));
      };
      outgoing.once('socket', (socket) => {
        if (outgoing.reusedSocket) trusted();
        else (socket as TLSSocket).once('secureConnect', trusted);
      });
      outgoing.once('timeout', impatience);
      outgoing.once('error', fail);
      outgoing.once('close', () => clearTimeout(timer));
      outgoing.once('response', (incoming) => {
        readBody(incoming).then(
          (read) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: read }),
          fail,
        );
      });
      outgoing.end(body);
    });
  }
}

/** It broke while it was used again. */
class StaleConnection extends Interrupted {}

function describeBreak(url: URL, error: Error): string {
  return `The connection to ${url.origin} broke after the request was sent (${error.message}), so it is not known whether the server has done it.`;
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  if (!incoming.complete) throw new Error('the answer was cut off');
  return Buffer.concat(chunks);
}
