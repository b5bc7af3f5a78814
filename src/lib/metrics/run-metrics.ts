/** Gauges of the last runs of other commands, by what these have written down in the data folder. */

import type { RunRecords } from '../run-record.ts';
import { Instruments } from './instruments.ts';

/** The last run of each command; null where there was none. */
export type LastRuns = { readonly [Name in keyof RunRecords]: RunRecords[Name] | null };

export class RunMetrics extends Instruments {
  private readonly backupAge = this.gauge(
    'hawser_backup_age_seconds',
    'Age of the last whole backup of hawser backup in this data folder; +Inf where there was none',
  );
  private readonly doctorAge = this.gauge(
    'hawser_doctor_age_seconds',
    'Age of the findings of hawser doctor --record in this data folder; +Inf where there are none',
  );
  private readonly findings = this.gauge(
    'hawser_doctor_findings',
    'Findings of the last hawser doctor --record by severity: the journal of hawser-doctor.service has them',
    'severity',
  );

  /** @param now in epoch milliseconds */
  show({ backup, doctor }: LastRuns, now: number): void {
    this.backupAge.set(ageOf(backup, now));
    this.doctorAge.set(ageOf(doctor, now));
    for (const severity of ['error', 'warning', 'information'] as const)
      this.findings.set({ severity }, doctor?.findings[severity] ?? 0);
  }
}

/** @returns the seconds since the run began */
function ageOf(run: { at: string } | null, now: number): number {
  return run === null ? Number.POSITIVE_INFINITY : Math.max(0, now - Date.parse(run.at)) / 1_000;
}
