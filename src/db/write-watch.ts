/** Who is told how long writes take. */

/** Is told how long a statement or transaction waited for the connection, and how long it held it, with its flush. */
export interface WriteWatch {
  onWriteWaited(milliseconds: number): void;
  onWritten(milliseconds: number): void;
}

export const UNWATCHED: WriteWatch = { onWriteWaited: () => undefined, onWritten: () => undefined };
