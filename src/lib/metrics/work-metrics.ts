/** Metrics of the work behind the answers: bundles, manifests, Git, the database, sign-ins, registrations. */

import type { Registry } from 'prom-client';
import { addPart } from '../request-parts.ts';
import { Instruments } from './instruments.ts';

/** Bounds in seconds for work that takes a millisecond when all is well. */
const SHORT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
/** Bounds in seconds for work that may take long. */
const LONG = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300];
/** Bounds of numbers, not of seconds. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export class WorkMetrics extends Instruments {
  private readonly bundleBuilds = this.histogram(
    'hawser_bundle_build_duration_seconds',
    'Bundles built, which a publish causes once each; many without one mean that HAWSER_CACHE_BYTES is too small',
    LONG,
  );
  private readonly bundleBytes = this.counter(
    'hawser_bundle_build_bytes_total',
    'Bytes of the bundles built; divide by the number of builds for their size, to choose HAWSER_CACHE_BYTES by',
  );
  private readonly resolutions = this.histogram(
    'hawser_resolution_duration_seconds',
    'Manifests made anew, after a change of versions, parameters or assignments; a wave of them follows each',
    SHORT,
  );
  private readonly merges = this.histogram(
    'hawser_merge_duration_seconds',
    'Parameters merged anew; slow ones have large files or many scopes',
    SHORT,
  );
  private readonly gitDurations = this.histogram(
    'hawser_git_operation_duration_seconds',
    'Operations on repositories; a publish is mostly flushes of the disk, a fetch is one run of git upload-pack',
    LONG,
    'operation',
  );
  private readonly gitFailures = this.counter(
    'hawser_git_operation_failures_total',
    'Operations on repositories that failed by a fault of disk or repository: see the log and /health/ready',
    'operation',
  );
  private readonly writeWaits = this.histogram(
    'hawser_database_write_wait_seconds',
    'Time waited for the one connection that writes; when it rises, writes come faster than the disk flushes',
    SHORT,
  );
  private readonly writeDurations = this.histogram(
    'hawser_database_write_duration_seconds',
    'Time for which the writing connection was held, flush included; when it rises, the disk is slow',
    SHORT,
  );
  private readonly signIns = this.counter(
    'hawser_sign_ins_total',
    'Sign-ins by outcome; many of wrong_password or unknown_user mean that somebody is guessing',
    'outcome',
  );
  private readonly groupSizes = this.histogram(
    'hawser_group_commit_size',
    'Reports that shared one flush of the disk; near 256 the reports of the fleet come faster than the disk flushes',
    SIZES,
  );
  private readonly registrations = this.counter(
    'hawser_registrations_total',
    'Registrations of nodes by outcome: registered, or why not; the log has name and address',
    'outcome',
  );

  private readonly previews = this.histogram(
    'hawser_preview_duration_seconds',
    'Previews made, waiting included; long ones with few waiting mean a large fleet with many different nodes',
    LONG,
    'state',
  );

  private readonly evaluations = this.histogram(
    'hawser_rollout_evaluation_duration_seconds',
    'Evaluations of running rollouts by the leader; while they fail no step opens, and the log says why',
    LONG,
    'outcome',
  );
  private readonly webhookAttempts = this.counter(
    'hawser_webhook_attempts_total',
    'Attempts to deliver an event to a webhook; failed ones were tried for a day, see the deliveries of the webhook',
    'outcome',
  );
  private readonly overSize = this.counter(
    'hawser_reports_over_size_total',
    'Reports that cleanups deleted because all together took more than HAWSER_REPORT_BYTES; history is shorter than the days of the settings',
  );

  constructor(registry: Registry) {
    super(registry);
    // Alerts ask for these. Prometheus sees the first of each only if it has seen a zero before.
    this.evaluations.zero({ outcome: 'failed' });
    this.webhookAttempts.inc({ outcome: 'failed' }, 0);
    for (const outcome of ['unknown_user', 'wrong_password']) this.signIns.inc({ outcome }, 0);
    for (const fault of ['expired', 'revoked', 'unknown', 'used_up'])
      this.registrations.inc({ outcome: `registration_key_${fault}` }, 0);
  }

  readonly onBundleBuilt = (milliseconds: number, bytes: number): void => {
    this.bundleBuilds.observe(milliseconds / 1_000);
    this.bundleBytes.inc(bytes);
  };

  readonly onResolved = (milliseconds: number): void => this.resolutions.observe(milliseconds / 1_000);

  readonly onMerged = (milliseconds: number): void => this.merges.observe(milliseconds / 1_000);

  readonly onGitOperation = (operation: string, milliseconds: number, hasFailed: boolean): void => {
    this.gitDurations.observe({ operation }, milliseconds / 1_000);
    if (hasFailed) this.gitFailures.inc({ operation });
  };

  readonly onWriteWaited = (milliseconds: number): void => {
    this.writeWaits.observe(milliseconds / 1_000);
    addPart('queue', milliseconds);
  };

  readonly onWritten = (milliseconds: number): void => {
    this.writeDurations.observe(milliseconds / 1_000);
    addPart('database', milliseconds);
  };

  readonly onGroupCommit = (size: number): void => this.groupSizes.observe(size);

  readonly onPreviewMade = (state: 'Done' | 'Failed', milliseconds: number): void =>
    this.previews.observe({ state: state.toLowerCase() }, milliseconds / 1_000);

  readonly onRolloutEvaluated = (outcome: 'evaluated' | 'failed', milliseconds: number): void =>
    this.evaluations.observe({ outcome }, milliseconds / 1_000);

  readonly onOverSize = (count: number): void => this.overSize.inc(count);

  readonly onWebhookAttempt = (state: 'Pending' | 'Delivered' | 'Failed'): void =>
    this.webhookAttempts.inc({ outcome: toLabel(state) });

  /** @param refusal is the reason, one of a small set; null means success */
  readonly onSignIn = (refusal: string | null): void =>
    this.signIns.inc({ outcome: toLabel(refusal ?? 'signed in') });

  /** @param refusal has the same meaning as in `onSignIn` */
  readonly onRegistration = (refusal: string | null): void =>
    this.registrations.inc({ outcome: toLabel(refusal ?? 'registered') });
}

/** Turns `wrong password, now locked` into `wrong_password_now_locked`. */
function toLabel(reason: string): string {
  return reason.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}
