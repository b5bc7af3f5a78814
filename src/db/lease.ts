/** The lead among the servers of one database, for as long as one of them has it. */

export interface Lease {
  /** Higher than that of all leaders before; null where no other server can lead. */
  number: number | null;
  /** Is aborted when this server leads no longer. The reason is a text for the log. */
  lost: AbortSignal;
  /** Begins work of the leader. What it goes on to do is refused by the database once another server leads. */
  run<T>(work: () => T): T;
  /** Lets another server lead at once. */
  giveBack(): Promise<void>;
}

/** The lease of the one process that leads on SQLite. Nobody can take it away. */
export function soleLease(): Lease {
  return {
    number: null,
    lost: new AbortController().signal,
    run: (work) => work(),
    giveBack: async () => undefined,
  };
}
