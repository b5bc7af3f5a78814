/** Notifies the rest of the server, and other processes, that refs of one repository have moved. */

import type { RefBackend } from '../git/ref-backend.ts';
import type { RepositoryRef } from '../git/types.ts';
import type { Log } from '../lib/log.ts';
import type { GitStoreOptions, NotingWrite } from './types.ts';

export class RefNotifier {
  private readonly repository: RepositoryRef;
  private readonly refs: RefBackend;
  private readonly log: Log;
  private readonly onRefsMoved: GitStoreOptions['onRefsMoved'];
  /** Whether a notification is still to be made. */
  isDue = false;
  /** Whether the log has been told that it cannot be made at the moment. */
  private isDelayed = false;

  constructor(
    repository: RepositoryRef,
    refs: RefBackend,
    { log, onRefsMoved }: Pick<GitStoreOptions, 'log' | 'onRefsMoved'>,
  ) {
    this.repository = repository;
    this.refs = refs;
    this.log = log;
    this.onRefsMoved = onRefsMoved;
  }

  /** Notifies and waits until that is done. If it fails it stays due, and the watch tries again. */
  notify(isAwaited = true): Promise<void> {
    if (this.refs.isTransactional && this.refs.isHalfway)
      return this.notifyWith((note) => this.refs.transaction(note));
    return this.notifyBy(() => this.onRefsMoved(this.repository, isAwaited));
  }

  /** Notifies in a transaction that `write` makes, and that holds what else belongs to the moves. If it fails it stays due. */
  notifyWith(write: NotingWrite): Promise<void> {
    return this.notifyBy(async () => {
      await write(async (trx) => {
        await this.refs.commit(trx);
        await this.onRefsMoved(this.repository, true, trx);
      });
      this.refs.settle();
    });
  }

  private async notifyBy(note: () => Promise<void>): Promise<void> {
    // This is reset before the call: a change that is noticed while it runs needs another notification.
    this.isDue = false;
    try {
      await note();
      this.isDelayed = false;
    } catch (error) {
      this.isDue = true;
      throw error;
    }
  }

  /** Notifies if that is due. Nobody waits for it, so a failure is logged once and does not fail the caller. */
  async notifyIfDue(): Promise<void> {
    if (!this.isDue) return;
    await this.notify(false).catch((err) => {
      const message = 'could not pass on that refs moved; this is tried again';
      if (!this.isDelayed) this.log.warn({ err, repository: this.repository }, message);
      this.isDelayed = true;
    });
  }
}
