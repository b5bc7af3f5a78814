/**
 * Sends the events of the outbox to the webhooks. The leader does it. Each webhook has a few attempts under way at most, of
 * its own, so a receiver that is slow or dead delays no other one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { type Clock, SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { toEnvelope } from './feed.ts';
import { numberEvents } from './numbering.ts';
import { activeWebhooks, type DueDelivery, dueDeliveries, noteOutcome } from './outbox.ts';
import type { Post } from './post.ts';
import { signedHeaders } from './signature.ts';

/** Milliseconds between two looks while nothing happens, and after a fault of the database. */
const PAUSE = SECOND / 2;
const PAUSE_AFTER_FAULT = 5 * SECOND;
/** The attempts to one webhook that are under way at once. */
const AT_ONCE = 4;

export interface SenderOptions {
  database: Database;
  clock: Clock;
  log: Log;
  post: Post;
  /** What names this server in events. */
  source: string;
  /** Is told what became of a delivery by an attempt. */
  onAttempt?: (state: 'Pending' | 'Delivered' | 'Failed') => void;
}

interface Webhook {
  id: string;
  url: string;
  secret: string;
}

export class Sender {
  private readonly options: SenderOptions;
  private readonly stopping = new AbortController();
  /** The attempts under way, by the id of the webhook and that of the delivery. */
  private readonly underWay = new Map<string, Map<string, Promise<void>>>();
  /** Ends the pause before the next look. */
  private endPause: () => void = () => undefined;
  private isLookDue = false;
  private readonly isOver: Promise<void>;

  constructor(options: SenderOptions) {
    this.options = options;
    this.isOver = this.run();
  }

  /** Breaks off what is under way. Whoever leads next sends it again. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.isOver;
    await Promise.all([...this.underWay.values()].flatMap((attempts) => [...attempts.values()]));
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.isLookDue = false;
      await this.pause(await this.look());
    }
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.isLookDue ? 0 : milliseconds);
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private wake(): void {
    this.isLookDue = true;
    this.endPause();
  }

  /** @returns the milliseconds until the next look, unless an attempt ends before */
  private async look(): Promise<number> {
    const { database, clock, log } = this.options;
    try {
      const isMore = await numberEvents(database, clock.now());
      for (const webhook of await activeWebhooks(database.read)) await this.sendDue(webhook);
      return isMore ? 0 : PAUSE;
    } catch (error) {
      log.warn({ err: error }, 'events could not be looked at; trying again');
      return PAUSE_AFTER_FAULT;
    }
  }

  private async sendDue(webhook: Webhook): Promise<void> {
    const { database, clock } = this.options;
    const attempts = this.underWay.get(webhook.id) ?? new Map<string, Promise<void>>();
    if (attempts.size >= AT_ONCE || this.stopping.signal.aborted) return;
    this.underWay.set(webhook.id, attempts);
    // Those under way are due still.
    const due = await dueDeliveries(database.read, webhook.id, clock.now(), AT_ONCE + attempts.size);
    const free = due.filter(({ id }) => !attempts.has(id)).slice(0, AT_ONCE - attempts.size);
    for (const delivery of free) attempts.set(delivery.id, this.attempt(webhook, delivery, attempts));
    if (attempts.size === 0) this.underWay.delete(webhook.id);
  }

  private async attempt(
    webhook: Webhook,
    delivery: DueDelivery,
    attempts: Map<string, unknown>,
  ): Promise<void> {
    try {
      await this.deliver(webhook, delivery);
    } catch (error) {
      this.options.log.warn({ err: error }, 'the end of a delivery could not be noted; it is made again');
      // Without a pause it would be made again and again while the database is away.
      await sleep(PAUSE_AFTER_FAULT, undefined, { signal: this.stopping.signal, ref: false }).catch(
        () => undefined,
      );
    } finally {
      attempts.delete(delivery.id);
      this.wake();
    }
  }

  private async deliver({ id: webhookId, url, secret }: Webhook, delivery: DueDelivery): Promise<void> {
    const { database, clock, log, post, source, onAttempt } = this.options;
    const { eventId, ...event } = delivery;
    const body = JSON.stringify(toEnvelope({ ...event, id: eventId }, source));
    const headers = {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'hawser',
      ...signedHeaders(secret, eventId, clock.now(), body),
    };
    const { signal } = this.stopping;
    const outcome = await post(url, { headers, body, signal });
    // One that was broken off says nothing of the receiver.
    if (signal.aborted && !outcome.isDelivered) return;
    const state = await noteOutcome(database, delivery, outcome, clock.now());
    const told = { webhookId, deliveryId: delivery.id, eventId, type: delivery.type, ...outcome };
    if (state !== null) onAttempt?.(state);
    if (state === 'Failed')
      log.warn(told, 'an event could not be delivered for a day, and is not tried again');
    else if (!outcome.isDelivered) log.info(told, 'an event could not be delivered; it is tried again');
    else log.debug(told, 'an event was delivered');
  }
}
