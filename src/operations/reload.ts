/**
 * Reloads, from both sides: the server takes SIGHUP and writes down what came of it, and `hawser reload` sends SIGHUP and
 * waits for what is written. A signal alone has no answer.
 */

import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findHolder } from '../db/folder-lock.ts';
import { MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';

/** The outcome of the last reload, as JSON, in the data folder. */
export const RELOAD_FILE = 'hawser.reload';

interface Outcome {
  /** When it began, in nanoseconds of the machine's monotonic clock, which all of its processes read alike. */
  begun: string;
  /** Why files were refused, a line each. */
  faults: string[];
}

/** Milliseconds between two looks at the file, and how long the server may take. */
const STEP = 50;
const PATIENCE = 1 * MINUTE;

/** Takes SIGHUP from its making on, and carries out one reload after the other. Unhandled, the signal ends a process. */
export class ReloadSignal {
  private reload: (() => Promise<void>) | null = null;
  private last: Promise<void> = Promise.resolve();
  private isAsked = false;

  constructor() {
    process.on('SIGHUP', () => this.take());
  }

  /** Says what a reload is, once the server has started. A signal that came before is carried out now. */
  serve(reload: () => Promise<void>): void {
    this.reload = reload;
    if (this.isAsked) this.take();
  }

  private take(): void {
    this.isAsked = true;
    if (this.reload !== null) this.last = this.last.then(this.reload);
  }
}

/** Removes what an earlier server has left, whose clock may have been another one. */
export function forgetReloads(dataDir: string): void {
  rmSync(join(dataDir, RELOAD_FILE), { force: true });
}

/** Carries out a reload, and writes down what came of it. @returns the faults */
export async function noteReload(
  dataDir: string,
  reload: () => Promise<string[]>,
  log: Log,
): Promise<string[]> {
  const begun = String(process.hrtime.bigint());
  const faults = await reload();
  const outcome: Outcome = { begun, faults };
  await writeSecretFile(join(dataDir, RELOAD_FILE), JSON.stringify(outcome)).catch((error) => {
    log.error({ err: error }, 'the outcome of a reload could not be written down');
  });
  return faults;
}

/**
 * Makes the server on this data folder reload, and waits for the outcome.
 * @returns why it did not, or why files were refused, a line each; empty after a success
 */
export async function requestReload(dataDir: string): Promise<string[]> {
  const holder = findHolder(dataDir);
  if (holder === null) return [`no server uses ${dataDir}`];
  const { pid, host } = holder;
  if (host !== hostname() || !(pid > 0))
    return [`the server on ${dataDir} runs in another container or on another machine; reload it there`];
  const asked = process.hrtime.bigint();
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    return [`the server (process ${pid}) cannot be sent SIGHUP (${(error as NodeJS.ErrnoException).code})`];
  }
  for (let waited = 0; waited < PATIENCE; waited += STEP) {
    await setTimeout(STEP);
    const outcome = await readOutcome(dataDir);
    if (outcome !== null && BigInt(outcome.begun) >= asked) return outcome.faults;
    if (findHolder(dataDir) === null) return ['the server ended meanwhile'];
  }
  return ['the server has not reloaded within a minute; its log says what it does'];
}

async function readOutcome(dataDir: string): Promise<Outcome | null> {
  const content = await readIfPresent(join(dataDir, RELOAD_FILE));
  return content === null ? null : JSON.parse(content);
}
