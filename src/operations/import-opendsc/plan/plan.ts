/**
 * A plan: what is to be done so that all of the source stands here, and what becomes of each of its things. It is made of
 * what was read, and reads nothing itself, so that a dry run says what an import does.
 */

import { ZodError } from 'zod';
import type { CompositeDocument } from '../../../domain/composite-document.ts';
import { HawserError } from '../../../lib/errors.ts';
import type { Deed } from '../deeds.ts';
import type { Here } from '../here.ts';
import type { Kind, KindReport, Refusal } from '../kinds.ts';
import { KINDS } from '../kinds.ts';
import type { FileStates } from '../look-at-files.ts';
import type { SourceSite } from '../source/site.ts';
import { KnownVersions } from './known-versions.ts';

export interface PlanInput {
  site: SourceSite;
  files: FileStates;
  here: Here;
  skip: ReadonlySet<Kind>;
  limits: { uploadBytes: number; uploadFiles: number };
  /** Epoch milliseconds. */
  now: number;
}

/** A thing of the source that cannot be here, by its own fault or by that of what it hangs on. */
export class LeftOut extends Error {}

/** A thing of the source of which another one is here. */
export class Clash extends Error {
  /** What is here, where it differs in nothing that other things hang on. They come then. */
  readonly standing: Standing | undefined;

  constructor(message: string, standing?: Standing) {
    super(message);
    this.standing = standing;
  }
}

/** What stands here for a thing of the source, or will once it is imported. */
export interface Standing {
  id: string;
  name: string;
}

/** What a thing becomes. */
export interface Judged {
  standing?: Standing;
  isThere: boolean;
  deeds: readonly Deed[];
}

interface Judging<T> {
  /** Gives the id by which other things name it. */
  id?(thing: T): string;
  /** What people call it. */
  name(thing: T): string;
  /** @throws LeftOut, Clash, or the error of one of our rules, which leaves it out too */
  judge(thing: T): Judged;
}

export class Plan {
  readonly input: PlanInput;
  /** The versions of configurations, by the names of these. */
  readonly versions = new Map<string, KnownVersions>();
  /** What composites consist of, by name and version. */
  readonly documents = new Map<string, CompositeDocument>();
  /** The names of nodes that are here, or will be. */
  readonly nodeNames = new Set<string>();
  /** The settings of the server as they will be, as far as they were judged. */
  readonly settings = new Map<string, unknown>();
  /** The external logins that are not carried over. */
  readonly loginsLeft: string[] = [];
  readonly deeds: { kind: Kind; name: string; deed: Deed }[] = [];
  private readonly reports = new Map<Kind, KindReport>();
  private readonly standing = new Map<string, Standing>();
  private readonly names = new Map<string, string>();
  private readonly clashing = new Set<string>();
  private readonly taken = new Set<string>();
  private readonly spellings = new Map<string, string>();

  constructor(input: PlanInput) {
    this.input = input;
  }

  versionsOf(configuration: string): KnownVersions {
    const known = this.versions.get(configuration) ?? new KnownVersions();
    this.versions.set(configuration, known);
    return known;
  }

  /** What is told of each kind that was not skipped. */
  get kinds(): KindReport[] {
    return KINDS.flatMap((kind) => this.reports.get(kind) ?? []);
  }

  /** The names of those of a kind that do not come, in conflict or left out. */
  refusedOf(kind: Kind): string[] {
    const { conflicts = [], leftOut = [] } = this.reports.get(kind) ?? {};
    return [...leftOut, ...conflicts].map(({ name }) => name);
  }

  /** Judges each thing of a kind. One of a kind that is skipped stands here only if it does so already. */
  judge<T>(kind: Kind, things: readonly T[], judging: Judging<T>): void {
    const isSkipped = this.input.skip.has(kind);
    const report = isSkipped ? emptyReport(kind) : this.reportOf(kind);
    for (const thing of things) {
      const name = judging.name(thing);
      const id = judging.id?.(thing);
      if (id !== undefined) this.names.set(`${kind} ${id}`, name);
      report.found += 1;
      const judged = this.tryToJudge(() => judging.judge(thing), { key: `${kind} ${id}`, name }, report);
      if (judged === null || (isSkipped && !judged.isThere)) continue;
      if (id !== undefined && judged.standing) this.standing.set(`${kind} ${id}`, judged.standing);
      report[judged.isThere ? 'alreadyThere' : 'imported'] += 1;
      if (!isSkipped) for (const deed of judged.deeds) this.deeds.push({ kind, name, deed });
    }
  }

  /** Tells of a thing that it was left out after all, when its turn came. */
  leaveOut(kind: Kind, refusal: Refusal): void {
    const report = this.reportOf(kind);
    report.imported -= 1;
    report.leftOut.push(refusal);
  }

  /**
   * What stands here for a thing that another one hangs on.
   * @throws LeftOut where nothing does
   */
  require(kind: Kind, id: string): Standing {
    const standing = this.find(kind, id);
    if (standing !== undefined) return standing;
    const noun = kind.slice(0, -1);
    const name = this.names.get(`${kind} ${id}`);
    if (name === undefined) throw new LeftOut(`Its ${noun} does not exist there`);
    const fate = this.clashing.has(`${kind} ${id}`) ? 'in conflict' : 'left out';
    throw new LeftOut(`Its ${noun} ${name} is ${fate}`);
  }

  /** The same, or undefined. */
  find(kind: Kind, id: string): Standing | undefined {
    return this.standing.get(`${kind} ${id}`);
  }

  /**
   * Refuses the second of two things of the source that count as one here.
   * @param key what is unique
   * @throws LeftOut
   */
  once(kind: Kind, key: string): void {
    const whole = `${kind} ${key}`;
    if (this.taken.has(whole)) throw new LeftOut('Another one that counts as the same comes before it');
    this.taken.add(whole);
  }

  /** The first spelling of what counts as one. */
  spelling(key: string, given: string): string {
    const first = this.spellings.get(key) ?? given;
    this.spellings.set(key, first);
    return first;
  }

  private reportOf(kind: Kind): KindReport {
    const known = this.reports.get(kind);
    if (known) return known;
    const made = emptyReport(kind);
    this.reports.set(kind, made);
    return made;
  }

  private tryToJudge(
    judge: () => Judged,
    { key, name }: { key: string; name: string },
    report: KindReport,
  ): Judged | null {
    try {
      return judge();
    } catch (error) {
      const refusal: Refusal = { name, reason: reasonOf(error, name) };
      if (error instanceof Clash) this.clashing.add(key);
      if (error instanceof Clash && error.standing) this.standing.set(key, error.standing);
      (error instanceof Clash ? report.conflicts : report.leftOut).push(refusal);
      return null;
    }
  }
}

function emptyReport(kind: Kind): KindReport {
  return { kind, found: 0, imported: 0, alreadyThere: 0, conflicts: [], leftOut: [] };
}

/** A thing that is here already. The deeds bring what moves by itself up to date. */
export function here(standing?: Standing, deeds: readonly Deed[] = []): Judged {
  return { isThere: true, deeds, ...(standing && { standing }) };
}

/** A thing that the deeds bring here. */
export function made(deeds: Deed | readonly Deed[], standing?: Standing): Judged {
  return {
    isThere: false,
    deeds: Array.isArray(deeds) ? deeds : [deeds as Deed],
    ...(standing && { standing }),
  };
}

/**
 * Compares what is here with what is there.
 * @param standing what is here, where things that hang on it come although the description differs, which is the last member
 * @throws Clash that names the first member that differs
 */
export function requireSame(here: object, there: object, standing?: Standing): void {
  for (const [member, value] of Object.entries(there)) {
    const own = (here as Record<string, unknown>)[member];
    if (JSON.stringify(own) !== JSON.stringify(value))
      throw new Clash(
        `Its ${member} is ${JSON.stringify(own)} here and ${JSON.stringify(value)} there`,
        member === 'description' ? standing : undefined,
      );
  }
}

/** @throws Clash where the id is that of another one here */
export function requireFreeId<R extends { id: string }>(
  id: string,
  rows: readonly R[],
  nameOf: (row: R) => string,
): void {
  const other = rows.find((row) => row.id === id);
  if (other) throw new Clash(`Its id belongs to ${nameOf(other)} here`);
}

/** The sentence of an error by which a thing is refused. @throws the error where it is a fault of the program */
function reasonOf(error: unknown, name: string): string {
  if (error instanceof LeftOut || error instanceof Clash) return error.message;
  if (error instanceof HawserError) return withoutStop(error.message);
  if (!(error instanceof ZodError)) throw error;
  const [{ path, message }] = error.issues as [ZodError['issues'][number]];
  const member = path.join('.');
  return withoutStop(member === '' || member === name ? message : `${member}: ${message}`);
}

/** The messages of rules are sentences of their own; in a report all reasons have one form. */
function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
