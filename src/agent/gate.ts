/**
 * Lets a bundle into use, or does not. It remembers what it has let in and by which file of signers, and what it has
 * refused, so that the same bundle is not downloaded again and again.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { comparePrecedence } from '../domain/semver.ts';
import type { HashedFile } from '../domain/signed-tag.ts';
import { parseVersion } from '../domain/version-order.ts';
import { type Clock, HOUR } from '../lib/clock.ts';
import type { BundleStore } from './bundles.ts';
import type { NodeApi, Polled, SignatureAnswer } from './node-api.ts';
import { checkFiles, checkTags, type RefusedReason, SignatureRefused } from './signed-bundle.ts';
import type { Signers } from './signers.ts';
import type { StateFolder } from './state.ts';

/** How long a refused bundle is not downloaded again. */
const PATIENCE = HOUR;

/** A bundle that is not taken into use. */
export interface BundleRefusal {
  bundle: Polled;
  reason: RefusedReason;
  /** The file of signers that it was refused by; null where there is none. */
  signers: string | null;
  /** Epoch milliseconds. */
  at: number;
}

interface Dependencies {
  state: StateFolder;
  bundles: BundleStore;
  clock: Clock;
  refusesOlder: boolean;
}

/** What the tags of a bundle were found to be, before its files are looked at. */
export interface Approval {
  answer: SignatureAnswer | null;
  /** Looks at the files in this folder. @throws SignatureRefused */
  checkFolder: (folder: string, executables: ReadonlySet<string> | null) => Promise<void>;
}

export class Gate {
  /** What was refused last, and stands until something is let in. */
  refusal: BundleRefusal | null = null;
  private signers: Signers | null = null;
  private readonly dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.dependencies = dependencies;
  }

  /** Takes the file of signers as it is now. */
  use(signers: Signers | null): void {
    this.signers = signers;
  }

  /** The bundle in use if it may run: it was checked by this file of signers, or stands the check now. */
  async usable(bundle: Polled | null): Promise<Polled | null> {
    const { signers } = this;
    if (bundle === null || signers === null) return bundle;
    const { bundles } = this.dependencies;
    const kept = await bundles.signature(bundle);
    if (kept === null) return null;
    if (kept.signers === signers.digest) return bundle;
    try {
      checkTags(bundle, kept.answer, signers.signers);
    } catch (error) {
      if (error instanceof SignatureRefused) this.note(bundle, error.reason);
      else throw error;
      return null;
    }
    await bundles.saveSignature(bundle, { ...kept, signers: signers.digest });
    if (this.refusal?.bundle.checksum === bundle.checksum) this.refusal = null;
    return bundle;
  }

  /** Whether the bundle was refused a short while ago, and nothing has changed here since. */
  isRefusedStill({ checksum }: Polled): boolean {
    const { refusal, signers } = this;
    if (refusal?.bundle.checksum !== checksum || refusal.signers !== (signers?.digest ?? null)) return false;
    return this.dependencies.clock.now() - refusal.at < PATIENCE;
  }

  /**
   * Asks the server for the tags, and checks them.
   * @returns null where the server has another bundle by now, and may be polled again
   * @throws SignatureRefused
   */
  async approve(polled: Polled, api: NodeApi, mayPollAgain: boolean): Promise<Approval | null> {
    const { signers } = this;
    if (signers === null) {
      await this.requireNotOlder(polled, null);
      return { answer: null, checkFolder: async () => undefined };
    }
    const answer = await api.signature();
    if (answer === 'none') throw new SignatureRefused('no_signature');
    if (answer === 'unreadable') throw new SignatureRefused('bad_format');
    if (answer.checksum !== polled.checksum && mayPollAgain) return null;
    const parts = checkTags(polled, answer, signers.signers);
    await this.requireNotOlder(polled, answer);
    const { isComposite } = answer;
    const checkFolder = async (folder: string, executables: ReadonlySet<string> | null) => {
      const files = await hashFolder(folder, executables);
      const hasDocument = isComposite && files.some(({ path }) => path === polled.entryPoint);
      const document = hasDocument ? await readFile(join(folder, polled.entryPoint), 'utf8') : '';
      checkFiles(polled, { isComposite, parts }, files, document);
    };
    return { answer, checkFolder };
  }

  /** Keeps the tags of a bundle that is let in, so that another file of signers can be tried on it without the server. */
  async admit(bundle: Polled, { answer }: Approval): Promise<void> {
    const { signers } = this;
    if (answer !== null && signers !== null)
      await this.dependencies.bundles.saveSignature(bundle, { signers: signers.digest, answer });
  }

  /** Remembers a refusal. One that stands keeps its time. */
  note(bundle: Polled, reason: RefusedReason): void {
    if (this.isRefusedStill(bundle) && this.refusal?.reason === reason) return;
    const at = this.dependencies.clock.now();
    this.refusal = { bundle, reason, signers: this.signers?.digest ?? null, at };
  }

  /** Notes the versions of a bundle that is in use. */
  async noteVersions(bundle: Polled): Promise<void> {
    const { state, bundles } = this.dependencies;
    const kept = await bundles.signature(bundle);
    const highest = await state.highestVersions();
    const higher = versionsOf(bundle, kept?.answer ?? null).filter(
      ([name, version]) => highest[name] === undefined || isLower(highest[name], version),
    );
    if (higher.length > 0) await state.saveHighestVersions({ ...highest, ...Object.fromEntries(higher) });
  }

  private async requireNotOlder(polled: Polled, answer: SignatureAnswer | null): Promise<void> {
    if (!this.dependencies.refusesOlder) return;
    const highest = await this.dependencies.state.highestVersions();
    const isOlder = versionsOf(polled, answer).some(
      ([name, version]) => highest[name] !== undefined && isLower(version, highest[name]),
    );
    if (isOlder) throw new SignatureRefused('older');
  }
}

/** The names in a bundle and their versions. Composites have names of their own. */
function versionsOf(bundle: Polled, answer: SignatureAnswer | null): [name: string, version: string][] {
  const parts = (answer?.parts ?? []).map(({ configurationName, version }): [string, string] => [
    `configuration ${configurationName}`,
    version,
  ]);
  const kind = answer?.isComposite ? 'composite' : 'configuration';
  return [[`${kind} ${bundle.configurationName}`, bundle.version], ...parts];
}

/** Names that are not SemVer are below those that are, and not ordered among themselves. */
function isLower(version: string, other: string): boolean {
  const [a, b] = [parseVersion(version), parseVersion(other)];
  return b !== null && (a === null || comparePrecedence(a, b) < 0);
}

/**
 * All files below a folder.
 * @param executables null where the file system tells
 */
async function hashFolder(folder: string, executables: ReadonlySet<string> | null): Promise<HashedFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: HashedFile[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    // A link, which no bundle has, would be another file's content.
    if (!entry.isFile()) throw new SignatureRefused('wrong_files');
    const whole = join(entry.parentPath, entry.name);
    const path = whole.slice(folder.length + 1).replaceAll('\\', '/');
    const isExecutable = executables?.has(path) ?? ((await stat(whole)).mode & 0o100) !== 0;
    const digest = createHash('sha256');
    await pipeline(createReadStream(whole), digest);
    files.push({ path, isExecutable, sha256: digest.digest('hex') });
  }
  return files;
}
