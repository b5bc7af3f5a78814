/** The thread that makes checkpoints. It has a handle of its own, because threads cannot share one. */

import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { serveTasks } from '../../lib/threads.ts';
import type { CheckpointResult, CheckpointTasks } from './checkpoints.ts';
import { beginLog } from './log-flush.ts';

let handle: SqliteHandle | undefined;

function open(file: string): SqliteHandle {
  handle ??= new SqliteDatabase(file, { fileMustExist: true });
  return handle;
}

serveTasks({
  checkpoint(file) {
    return open(file).prepare<[], CheckpointResult>('pragma wal_checkpoint(passive)').raw().get();
  },

  beginAnew(file) {
    beginLog(open(file));
  },
} satisfies CheckpointTasks);
