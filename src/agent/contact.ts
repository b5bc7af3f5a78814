/**
 * The node towards the server: registration, and the certificate it comes in with. A rotation is two files and a rule:
 * the next identity is kept beside the current one from before it is announced until one of the two is known to be the
 * one that works. So it may be broken off anywhere, by either side.
 */

import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  belongTogether,
  type Identity,
  isRotationDue,
  isSelfSigned,
  makeRequest,
  makeSelfSigned,
  termOf,
  thumbprintOf,
} from './certificates.ts';
import { type LcmConfig, type NodeApi, type NodeCalls, Refusal, type ReportedConfig } from './node-api.ts';
import type { StateFolder } from './state.ts';

/** A certificate that works, and what the server said when it was tried. */
export interface Session {
  calls: NodeCalls;
  lcm: LcmConfig;
  certificate: string;
}

export interface ContactOptions {
  state: StateFolder;
  connect: (identity: Identity) => NodeApi;
  name: string;
  registrationKey: string | null;
  csr: boolean;
  clock: Clock;
  log: Log;
}

/** Nothing helps but a person. */
const UNKNOWN_TO_SERVER =
  'The server knows no certificate of this node: it was removed there, or its certificate has run out. ' +
  'To register it anew, remove the state folder and give a registration key';

export class Contact {
  private readonly options: ContactOptions;
  private open: { certificate: string; api: NodeApi } | null = null;

  constructor(options: ContactOptions) {
    this.options = options;
  }

  isRegistered(): Promise<boolean> {
    return this.options.state.nodeId().then((nodeId) => nodeId !== null);
  }

  /**
   * Registers where that is still to be done, then calls in.
   * @param reported what a new node tells of itself
   * @throws Refusal, or the system's error when the server cannot be reached
   */
  async signIn(reported: ReportedConfig): Promise<Session> {
    const nodeId = (await this.options.state.nodeId()) ?? (await this.register(reported));
    const session = await this.callIn(nodeId);
    if (!this.isRotationDue(session)) return session;
    return (await this.announce(session)) ? this.callIn(nodeId) : session;
  }

  close(): void {
    this.open?.api.close();
    this.open = null;
  }

  /** The identity is kept before it is shown, so that a second try after a crash is the same node's. */
  private async register(reported: ReportedConfig): Promise<string> {
    const { state, registrationKey, name, log, clock } = this.options;
    if (registrationKey === null)
      throw new Error('This node is not registered yet, and no registration key is given');
    let identity = await state.identity('current');
    if (identity === null || termOf(identity.certificate).notAfter <= clock.now()) {
      identity = await makeSelfSigned(name, clock.now());
      await state.saveIdentity('current', identity);
    }
    const nodeId = await this.apiOf(identity).register(registrationKey, name, reported);
    await state.saveNodeId(nodeId);
    log.info({ nodeId, name, thumbprint: thumbprintOf(identity.certificate) }, 'registered');
    return nodeId;
  }

  /** With the next certificate if there is one; what the server says decides which of the two stays. */
  private async callIn(nodeId: string): Promise<Session> {
    const { state, log } = this.options;
    const next = await state.identity('next');
    if (next !== null) {
      const session = await this.tryOut(next, nodeId);
      if (session !== null) {
        await state.promoteNext();
        log.info({ thumbprint: thumbprintOf(next.certificate) }, 'certificate rotated');
        return session;
      }
    }
    const current = await state.identity('current');
    const session = current && (await this.tryOut(current, nodeId));
    if (session === null) throw new Error(UNKNOWN_TO_SERVER);
    if (next !== null) {
      log.warn(
        { thumbprint: thumbprintOf(next.certificate) },
        'the next certificate is refused: the old one stays',
      );
      await state.discardNext();
    }
    return session;
  }

  /** @returns null when the server does not know the certificate as this node's */
  private async tryOut(identity: Identity, nodeId: string): Promise<Session | null> {
    const calls = this.apiOf(identity).of(nodeId);
    try {
      return { calls, lcm: await calls.lcmConfig(), certificate: identity.certificate };
    } catch (error) {
      if (error instanceof Refusal && (error.status === 401 || error.status === 403)) return null;
      throw error;
    }
  }

  private isRotationDue({ certificate, lcm }: Session): boolean {
    const { clock, csr } = this.options;
    if (csr && isSelfSigned(certificate)) return true;
    const interval = lcm.certificateRotationInterval?.milliseconds ?? null;
    return isRotationDue(termOf(certificate), interval, clock.now());
  }

  /**
   * A refusal is logged and the node goes on with what it has. Anything else leaves it open whether the announcement
   * has arrived: the next cycle finds that out by trying.
   * @returns whether the next certificate may be used
   */
  private async announce({ calls }: Session): Promise<boolean> {
    const { state, log } = this.options;
    try {
      await (this.options.csr ? this.requestNext(calls) : this.announceNext(calls));
      return true;
    } catch (error) {
      if (!(error instanceof Refusal) || error.isPassing) throw error;
      log.warn({ status: error.status, code: error.code }, 'the rotation is refused: the certificate stays');
      await state.discardNext();
      return false;
    }
  }

  private async announceNext(calls: NodeCalls): Promise<void> {
    const { state, name, clock } = this.options;
    const next = await makeSelfSigned(name, clock.now());
    await state.saveIdentity('next', next);
    await calls.announce(next.certificate);
  }

  /** Until the answer is kept the server knows of a certificate that nobody has; it forgets it after a day. */
  private async requestNext(calls: NodeCalls): Promise<void> {
    const { state, name } = this.options;
    const { csr, key } = await makeRequest(name);
    const next = { certificate: await calls.requestCertificate(csr), key };
    if (!belongTogether(next)) throw new Error('The server issued a certificate for another key');
    await state.saveIdentity('next', next);
  }

  /** One connection at a time, because a certificate belongs to a connection. */
  private apiOf(identity: Identity): NodeApi {
    if (this.open?.certificate === identity.certificate) return this.open.api;
    this.close();
    const api = this.options.connect(identity);
    this.open = { certificate: identity.certificate, api };
    return api;
  }
}
