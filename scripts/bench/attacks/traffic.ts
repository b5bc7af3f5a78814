/** The traffic of an attack, as the attacker counts it. */

import type { RawConnection } from '../../../test/support/attacks/raw-connection.ts';

export interface TrafficSummary {
  /** Bytes that the attacker sent: bodies of ordinary requests, and everything over raw connections. */
  sent: number;
  /** Bytes of answers that the attacker has read. */
  received: number;
  /** The number of answers by status and problem code. `none` means that the connection ended without an answer. */
  answers: Record<string, number>;
  /** Milliseconds; null if the attack did not get so far. */
  took: number | null;
}

export class Traffic {
  private sent = 0;
  private received = 0;
  private took: number | null = null;
  private readonly answers = new Map<string, number>();
  private readonly connections: RawConnection[] = [];

  addSent(bytes: number): void {
    this.sent += bytes;
  }

  addReceived(bytes: number): void {
    this.received += bytes;
  }

  addAnswer(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }

  /** From now on everything on this connection is counted too. */
  watch(connection: RawConnection): void {
    this.connections.push(connection);
  }

  setTook(milliseconds: number): void {
    this.took = milliseconds;
  }

  get summary(): TrafficSummary {
    const { connections, took } = this;
    const answers = new Map(this.answers);
    for (const status of connections.flatMap(({ statuses }) => statuses)) {
      answers.set(String(status), (answers.get(String(status)) ?? 0) + 1);
    }
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    return {
      sent: this.sent + sum(connections.map(({ sent }) => sent)),
      received: this.received + sum(connections.map(({ received }) => received)),
      answers: Object.fromEntries(answers),
      took,
    };
  }
}
