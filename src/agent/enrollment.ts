/**
 * Registration of the node, and the rotation of its certificate. The next identity is kept beside the current one from
 * before it is announced until one of the two is known to work, so either side may break a rotation off at any moment.
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
import { Connection } from './connection.ts';
import { type LcmConfig, NodeApi, Refusal, type ReportedConfig } from './node-api.ts';
import type { AgentSettings } from './settings.ts';
import type { StateFolder } from './state.ts';

/** A certificate that the server has accepted, and the configuration that it answered with. */
export interface Session {
  api: NodeApi;
  lcm: LcmConfig;
  certificate: string;
}

type Settings = Pick<AgentSettings, 'name' | 'registrationKey' | 'csr'>;

interface Dependencies {
  state: StateFolder;
  connect: (identity: Identity) => Connection;
  clock: Clock;
  log: Log;
}

const UNKNOWN_TO_SERVER =
  'The server knows no certificate of this node: it was removed there, or its certificate has run out. ' +
  'To register it anew, remove the state folder and give a registration key';

/** The enrollment of the agent with these settings. */
export function enrollmentOf(
  settings: AgentSettings,
  { stop, ...others }: { clock: Clock; log: Log; stop: AbortSignal },
  state: StateFolder,
): Enrollment {
  const connect = (identity: Identity) => new Connection(settings, identity, stop);
  return new Enrollment(settings, { state, connect, clock: others.clock, log: others.log });
}

/** It is not valid yet if it was made while the clock was ahead, which the server would refuse for as long. */
function isValidAt({ certificate }: Identity, now: number): boolean {
  const { notBefore, notAfter } = termOf(certificate);
  return notBefore <= now && now < notAfter;
}

export class Enrollment {
  private readonly options: Settings & Dependencies;
  private open: { certificate: string; connection: Connection } | null = null;

  constructor({ name, registrationKey, csr }: Settings, dependencies: Dependencies) {
    this.options = { name, registrationKey, csr, ...dependencies };
  }

  /**
   * Registers the node if it is new, then opens a session, with a new certificate if it is time for one.
   * @param reported what a new node reports about itself
   * @throws Refusal, or the system's error when the server cannot be reached
   */
  async signIn(reported: ReportedConfig): Promise<Session> {
    const nodeId = (await this.options.state.nodeId()) ?? (await this.register(reported));
    const session = await this.openSession(nodeId);
    if (!this.isRotationDue(session)) return session;
    return (await this.announce(session)) ? this.openSession(nodeId) : session;
  }

  close(): void {
    this.open?.connection.close();
    this.open = null;
  }

  /** The identity is saved before it is used, so that after a crash the same node registers again. */
  private async register(reported: ReportedConfig): Promise<string> {
    const { state, registrationKey, name, log, clock } = this.options;
    if (registrationKey === null)
      throw new Error('This node is not registered yet, and no registration key is given');
    let identity = await state.identity('current');
    if (identity === null || !isValidAt(identity, clock.now())) {
      identity = await makeSelfSigned(name, clock.now());
      await state.saveIdentity('current', identity);
    }
    const nodeId = await this.apiOf(identity, null).register(registrationKey, name, reported);
    await state.saveNodeId(nodeId);
    log.info({ nodeId, name, thumbprint: thumbprintOf(identity.certificate) }, 'registered');
    return nodeId;
  }

  /** Tries the next certificate first, if there is one. The answer of the server decides which of the two is kept. */
  private async openSession(nodeId: string): Promise<Session> {
    const { state, log } = this.options;
    const next = await state.identity('next');
    if (next !== null) {
      const session = await this.trySession(next, nodeId);
      if (session !== null) {
        await state.promoteNext();
        log.info({ thumbprint: thumbprintOf(next.certificate) }, 'certificate rotated');
        return session;
      }
    }
    const current = await state.identity('current');
    const session = current && (await this.trySession(current, nodeId));
    if (session === null) throw new Error(`${UNKNOWN_TO_SERVER}. The folder is ${state.path}`);
    if (next !== null) {
      log.warn(
        { thumbprint: thumbprintOf(next.certificate) },
        'the next certificate is refused: the old one stays',
      );
      await state.discardNext();
    }
    return session;
  }

  /** @returns null when the server does not accept the certificate for this node */
  private async trySession(identity: Identity, nodeId: string): Promise<Session | null> {
    const api = this.apiOf(identity, nodeId);
    try {
      return { api, lcm: await api.lcmConfig(), certificate: identity.certificate };
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
   * Announces a new certificate, or requests one. A refusal is logged, and the node keeps its certificate. After any
   * other failure nobody knows whether the announcement has arrived; the next cycle finds out by trying.
   * @returns whether the next certificate may be used
   */
  private async announce({ api }: Session): Promise<boolean> {
    const { state, log } = this.options;
    try {
      await (this.options.csr ? this.requestNext(api) : this.announceNext(api));
      return true;
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTemporary) throw error;
      const { status, code, detail } = error;
      log.warn({ status, code, detail }, 'the rotation is refused: the certificate stays');
      await state.discardNext();
      return false;
    }
  }

  private async announceNext(api: NodeApi): Promise<void> {
    const { state, name, clock } = this.options;
    const next = await makeSelfSigned(name, clock.now());
    await state.saveIdentity('next', next);
    await api.announce(next.certificate);
  }

  /** If the answer is lost, the server expects a certificate that nobody has, until the next cycle requests another. */
  private async requestNext(api: NodeApi): Promise<void> {
    const { state, name } = this.options;
    const { csr, key } = await makeRequest(name);
    const next = { certificate: await api.requestCertificate(csr), key };
    if (!belongTogether(next)) throw new Error('The server issued a certificate for another key');
    await state.saveIdentity('next', next);
  }

  /** Only one connection is open at a time, because a connection belongs to one certificate. */
  private apiOf(identity: Identity, nodeId: string | null): NodeApi {
    if (this.open?.certificate !== identity.certificate) {
      this.close();
      this.open = { certificate: identity.certificate, connection: this.options.connect(identity) };
    }
    return new NodeApi(this.open.connection, this.options.clock, nodeId);
  }
}
