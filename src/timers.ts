/** What happens when nobody asks for it: what the leader does, and what each server does for itself. */

import { hostname } from 'node:os';
import type { Database } from './db/database.ts';
import { removeGoneServers } from './db/servers.ts';
import type { CleanupTools, RetentionRuns } from './deeds/clean-up.ts';
import { RetentionSchedule } from './deeds/cleanup-schedule.ts';
import { startHours } from './deeds/keep-hours.ts';
import { startPreviewExpiry } from './deeds/preview-expiry.ts';
import { startAuditRetention } from './deeds/prune-audit.ts';
import { type ScheduleTools, startChangeSets } from './deeds/schedule-change-set.ts';
import { ROLLOUT_STATES } from './domain/rollout.ts';
import { startEventExpiry } from './events/expiry.ts';
import { sourceOf } from './events/feed.ts';
import { makePost, type Post } from './events/post.ts';
import { Sender } from './events/sender.ts';
import { type Lead, Leadership } from './leadership.ts';
import { AddressSet } from './lib/address-set.ts';
import { HOUR, MINUTE } from './lib/clock.ts';
import { newId } from './lib/ids.ts';
import type { Reading } from './lib/metrics/instruments.ts';
import type { Metrics } from './lib/metrics/metrics.ts';
import type { Threads } from './lib/threads.ts';
import { readVersion } from './lib/version.ts';
import { showPresence } from './presence.ts';
import type { FleetTasks } from './resolve/fleet-tasks.ts';
import { RolloutEvaluation } from './rollouts/evaluation.ts';
import { MovedRepositories } from './rollouts/moved-repositories.ts';
import type { SecretStore } from './security/secrets/secret-store.ts';
import type { ServerOptions } from './stores.ts';
import { startPruning } from './versions/pruning.ts';
import { startScopeMoves } from './versions/scope-moves.ts';

/** The certificate that the server made is checked so often, and renewed 30 days before its end. */
const TLS_CHECK_INTERVAL = 12 * HOUR;

export interface TimerTools {
  tools: CleanupTools;
  runs: RetentionRuns;
  /** They look at the whole fleet. */
  questions: Threads<FleetTasks>;
  metrics: Metrics;
  secrets: SecretStore;
  /** Applies change sets at their time. */
  applying: ScheduleTools;
  reloadTls(): Promise<unknown>;
}

/**
 * Starts all of it.
 * @returns a function that ends it. Cleanups that are under way must be told to end too, because it waits for them.
 */
export async function startTimers(
  options: ServerOptions,
  { tools, runs, questions, metrics, secrets, applying, reloadTls }: TimerTools,
): Promise<() => Promise<void>> {
  const { config, log, tuning } = options;
  const { database } = tools;
  const allowed = new AddressSet(config.webhookAllowed);
  const post = makePost({ ca: tuning?.receiverAuthorities, allowed });
  const server = { id: newId(), version: readVersion(), host: hostname() };
  const presence = await showPresence({ database, secrets, log }, server);
  // Each server has a certificate of its own.
  const renewal = setInterval(() => void reloadTls(), TLS_CHECK_INTERVAL).unref();
  const moved = new MovedRepositories(database.changes);
  const shown: Shown = { rollouts: NO_ROLLOUTS };
  metrics.showRollouts(() => shown.rollouts());
  const leading = { ...options, post, questions, moved, metrics, shown, applying };
  const begin = () => lead(leading, tools, runs);
  const leadership = new Leadership({ database, server: server.id, log, lead: begin });
  metrics.addReadings({ leader: () => Number(leadership.leads) });
  return async () => {
    clearInterval(renewal);
    await leadership.close();
    await presence.close();
  };
}

/** What the metrics show of this server for as long as it leads. */
interface Shown {
  rollouts: () => readonly Reading[];
}

/** Whoever does not lead has looked for none. */
const NO_ROLLOUTS = () => ROLLOUT_STATES.map((state) => [state, 0] as const);

/** What the leader uses that is not its own. */
interface Leading {
  shown: Shown;
  post: Post;
  questions: Threads<FleetTasks>;
  moved: MovedRepositories;
  metrics: Metrics;
  applying: ScheduleTools;
}

function lead(
  { config, clock, log, post, questions, moved, metrics, shown, applying }: ServerOptions & Leading,
  tools: CleanupTools,
  runs: RetentionRuns,
): Lead {
  const { database } = tools;
  const schedule = new RetentionSchedule(tools, runs);
  const previews = startPreviewExpiry({ database, clock, log });
  const audit = startAuditRetention({ database, clock, log, keepDays: config.auditKeepDays });
  const servers = setInterval(() => void removeServers(database), MINUTE).unref();
  void removeServers(database);
  const events = startEventExpiry({ database, clock, log });
  const hours = startHours({ database, clock, log, questions });
  const onAttempt = metrics.work.onWebhookAttempt;
  const sender = new Sender({ database, clock, log, post, source: sourceOf(config), onAttempt });
  const { store } = tools;
  // PostgreSQL checks its pages itself, and the objects there are in no packs.
  const upkeep = database.repositories === null ? store.packWatch.start() : startPruning({ database, log });
  const onEvaluated = metrics.work.onRolloutEvaluated;
  const scopes = startScopeMoves({ ...tools, log }, clock);
  const rollouts = new RolloutEvaluation({ database, store, clock, log, questions, moved, onEvaluated });
  const changeSets = startChangeSets(applying);
  shown.rollouts = () => rollouts.countStates();
  schedule.start();
  return {
    async close() {
      clearInterval(servers);
      shown.rollouts = NO_ROLLOUTS;
      await Promise.all([
        schedule.close(),
        previews.close(),
        audit.close(),
        upkeep.close(),
        events.close(),
        hours.close(),
        sender.close(),
        rollouts.close(),
        scopes.close(),
        changeSets.close(),
      ]);
    },
  };
}

/** What cannot be removed while PostgreSQL is away is removed a minute later. */
async function removeServers({ writeNow }: Database): Promise<void> {
  await removeGoneServers(writeNow).catch(() => undefined);
}
