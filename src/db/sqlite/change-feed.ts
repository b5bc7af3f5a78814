/**
 * The change feed of SQLite. A check costs some 2 µs while nothing was committed. Polls that come in one turn share it. Who
 * must know what holds now may ask in a timer, too, or beside other immediates: the turn then has not waited for events yet,
 * and what comes with them may have been committed after the check. So such a check stands for no other.
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import { type Change, ChangeFeed, type Currency, type Position, SELECT_POSITION } from '../change-feed.ts';

export class SqliteChangeFeed extends ChangeFeed {
  private readonly dataVersion: Statement<[], number>;
  private readonly position: Statement<[], Position>;
  private readonly changes: Statement<[number], Change>;
  private seenVersion = -1;
  private isCurrent = false;

  /** @param handle must not write: SQLite tells a handle of the commits of all other handles only */
  constructor(handle: SqliteHandle) {
    super();
    this.dataVersion = handle.prepare<[], number>('pragma data_version').pluck();
    this.position = handle.prepare<[], Position>(SELECT_POSITION).raw();
    this.changes = handle
      .prepare<[number], Change>('select seq, kind, key from changes where seq > ? order by seq')
      .raw();
    this.startAt(this.position.get()?.[3] ?? 0);
  }

  catchUp(currency: Currency): void {
    if (currency === 'recent') {
      if (this.isCurrent) return;
      this.isCurrent = true;
      setImmediate(this.markStale);
    }
    // The version is read before the rows, so that a commit in between is noticed by the next check.
    const version = this.dataVersion.get() ?? 0;
    if (version === this.seenVersion) return;
    this.seenVersion = version;
    const after = this.notePosition(this.position.get() ?? [0, 0, 0, 0]);
    if (after !== null) this.reportChanges(this.changes.all(after));
  }

  readonly markStale = (): void => {
    this.isCurrent = false;
  };
}
