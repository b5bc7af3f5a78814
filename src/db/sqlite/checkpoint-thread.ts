/** The thread that makes checkpoints. It has a handle of its own, because threads cannot share one. */

import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { serveTasks } from '../../lib/threads.ts';
import type { CheckpointResult, CheckpointTasks } from './checkpoints.ts';

let handle: SqliteHandle | undefined;

serveTasks({
  checkpoint(file) {
    handle ??= new SqliteDatabase(file, { fileMustExist: true });
    return handle.prepare<[], CheckpointResult>('pragma wal_checkpoint(passive)').raw().get();
  },
} satisfies CheckpointTasks);
