/**
 * The lead as a lease. Whoever has it renews it over the connection that holds the lock `leader`, and PostgreSQL ends that
 * connection by its own clock when nothing was renewed for too long. So a process that is frozen loses the lead as one does
 * that was killed. Servers of a release without the lease know the lock alone, so no two lead beside each other.
 *
 * Each lease has a number, which all that the leader writes carries. A transaction of the leader holds the row of its number
 * as a foreign key would, which a renewal does not wait for, and the next lease, which changes the key, does.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { LEADER } from '../../domain/lock-names.ts';
import { SECOND } from '../../lib/clock.ts';
import type { Release } from '../../lib/locks.ts';
import type { Lease } from '../lease.ts';
import type { Keeper } from './keeper.ts';

/** Milliseconds without renewal after which another server leads. */
export const TERM = 15 * SECOND;
/** Milliseconds between two renewals. */
const RENEWAL = 5 * SECOND;

const CLAIM = `update lead_lease set number = number + 1, server_id = $1, renewed_at = clock_timestamp()
  returning number`;
const RENEW = 'update lead_lease set renewed_at = clock_timestamp() where number = $1 returning number';
const GIVE_BACK = 'update lead_lease set server_id = null, renewed_at = null where number = $1';

/** The statement by which a transaction of the leader asks whether its lease holds, and makes it hold until its end. */
export const holdLease = (number: number) =>
  `select number from lead_lease where number = ${number} for key share`;

export class LeadLeases {
  private readonly keeper: Keeper;
  private readonly working = new AsyncLocalStorage<number | undefined>();

  constructor(keeper: Keeper) {
    this.keeper = keeper;
  }

  /** The number of the lease under which the caller works; undefined for whoever does not work as the leader. */
  get current(): number | undefined {
    return this.working.getStore();
  }

  /** Does work that is not the leader's, although the leader began it. */
  outside(work: () => void): void {
    this.working.run(undefined, work);
  }

  /**
   * Takes the lead if nobody has it. Whatever a former leader has begun in the database ends before.
   * @param server its id in the list of servers
   * @returns null while another server leads, and while PostgreSQL is away
   * @throws what PostgreSQL refuses the lease with
   */
  async claim(server: string): Promise<Lease | null> {
    const ended = new AbortController();
    const onLost = () => ended.abort('the connection that held the lead is lost');
    const release = await this.keeper.acquireIfFree(LEADER, onLost);
    if (release === null) return null;
    try {
      await this.keeper.ask(`set idle_session_timeout = ${TERM}`);
      if (ended.signal.aborted) {
        release();
        return null;
      }
      const [row] = await this.keeper.ask<{ number: number }>(CLAIM, [server]);
      if (row === undefined) throw new Error('The table of the lease has no row');
      return this.hold(row.number, ended, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  private hold(number: number, ended: AbortController, release: Release): Lease {
    const { keeper } = this;
    let renewedAt = performance.now();
    const end = (reason: string) => {
      ended.abort(reason);
      // The lock goes with the connection, also if PostgreSQL does not answer there.
      keeper.drop();
    };
    const renew = async () => {
      const begun = performance.now();
      if (begun - renewedAt > TERM) return end('the lead could not be renewed in time');
      const rows = await keeper.ask(RENEW, [number]);
      if (rows.length > 0) renewedAt = begun;
      else if (!ended.signal.aborted) end('another server leads');
    };
    // A renewal that fails is tried again until the lease is over.
    const timer = setInterval(() => void renew().catch(() => undefined), RENEWAL).unref();
    ended.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    return {
      number,
      lost: ended.signal,
      run: (work) => this.working.run(number, work),
      giveBack: async () => {
        clearInterval(timer);
        if (!ended.signal.aborted)
          await keeper
            .ask(GIVE_BACK, [number])
            .then(() => keeper.ask('reset idle_session_timeout'))
            .catch(() => undefined);
        release();
      },
    };
  }
}
