/** The server within one cycle. After the first call that gets no answer the cycle goes on without the server. */

import { Unreachable } from '../client/errors.ts';
import type { Session } from './enrollment.ts';
import { isNoAnswer } from './no-answer.ts';
import { type LcmStatus, type NodeApi, Refusal } from './node-api.ts';

export class Link {
  /** Why the server is away, or takes no reports; null while it does what it is asked. */
  failure: unknown = null;
  private api: NodeApi | null = null;
  private hasAnswered = false;
  private takesNoReports = false;
  private readonly stop: AbortSignal;

  /** @param stop after it no error counts as an absent server, because the agent itself ends its calls */
  constructor(stop: AbortSignal) {
    this.stop = stop;
  }

  /** @returns null when the server is away */
  async open(signIn: () => Promise<Session>): Promise<Session | null> {
    const session = await this.attempt(signIn);
    this.api = session?.api ?? null;
    this.hasAnswered = session !== null;
    return session;
  }

  /** Whether the server has given no answer, or cannot serve. */
  get isAway(): boolean {
    return this.failure !== null && this.api === null;
  }

  /** Whether the server was not reached, or did not prove who it is, so that nothing was sent to it. */
  get isNothingSent(): boolean {
    return !this.hasAnswered && this.failure instanceof Unreachable;
  }

  /**
   * Makes a call if the server has answered until now.
   * @returns null when the server is away
   * @throws every error that does not mean that
   */
  async try<T>(call: (api: NodeApi) => Promise<T>): Promise<T | null> {
    const { api } = this;
    return api === null ? null : this.attempt(() => call(api));
  }

  /**
   * Sends reports, unless the server has refused one in this cycle. A refusal says nothing of other calls: the node may
   * have sent too many, or a single report may be what the server fails on. So the node still gets its configuration.
   */
  async report(send: (api: NodeApi) => Promise<void>): Promise<void> {
    if (this.takesNoReports) return;
    await this.try(async (api) => {
      try {
        await send(api);
      } catch (error) {
        if (!(error instanceof Refusal && error.isTemporary)) throw error;
        this.takesNoReports = true;
        this.failure = error;
      }
    });
  }

  private async attempt<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (error) {
      if (this.stop.aborted || !isAway(error)) throw error;
      this.failure = error;
      this.api = null;
      return null;
    }
  }
}

/** Tells the server the status of the node, if the server is there. */
export type Tell = (status: LcmStatus) => Promise<void>;

/** Whether the server gives no answer, or cannot serve at present. */
function isAway(error: unknown): boolean {
  return isNoAnswer(error) || (error instanceof Refusal && error.isTemporary);
}
