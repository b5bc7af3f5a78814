/** Gets the bundle that the node should have: polls, asks for its tags where they are to be checked, downloads, takes it into use. */

import { rm } from 'node:fs/promises';
import type { Log } from '../lib/log.ts';
import type { BundleStore, CheckFolder } from './bundles.ts';
import type { Approval, BundleRefusal, Gate } from './gate.ts';
import type { Lack, NodeApi, Polled } from './node-api.ts';
import { SignatureRefused } from './signed-bundle.ts';

export interface PullOptions {
  api: NodeApi;
  bundles: BundleStore;
  gate: Gate;
  /** The most bytes of a bundle, both packed and unpacked. */
  limit: number;
  onDownload: () => Promise<void>;
  log: Log;
}

/** The bundle that the node should run now, and whether it was not in use before. */
export interface Pulled {
  /** Null when the server has no bundle for this node, which then keeps the one it has. */
  bundle: Polled | null;
  isNew: boolean;
  /** Why there is none; null where there is one, and where the server was not asked. */
  lack: Lack | null;
  /** What was not taken into use. */
  refusal: BundleRefusal | null;
}

/** A version that is published between poll and download makes the two differ, which rarely happens twice in a row. */
const ATTEMPTS = 3;
/** RFC 9530: `Repr-Digest` is a dictionary of digests, of which SHA-256 is read here. */
const SHA256_MEMBER = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/;

/**
 * Gets the bundle that the node should have, unless it has it already, or it is not let in.
 * @throws Refusal, the system's error, or an Error for a bundle that is damaged or unsafe
 */
export async function pull(options: PullOptions): Promise<Pulled> {
  const { api, bundles, gate } = options;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const current = await gate.usable(await bundles.current());
    const polled = await api.poll(current?.checksum ?? null);
    if (typeof polled === 'string') {
      gate.refusal = null;
      const isSame = polled === 'same';
      return { bundle: isSame ? current : null, isNew: false, lack: isSame ? null : polled, refusal: null };
    }
    try {
      if (gate.isRefusedStill(polled)) return keeping(current);
      if (!(await take(polled, options, attempt < ATTEMPTS))) continue;
    } catch (error) {
      if (!(error instanceof SignatureRefused)) throw error;
      gate.note(polled, error.reason);
      return keeping(current);
    }
    gate.refusal = null;
    return { bundle: polled, isNew: current?.checksum !== polled.checksum, lack: null, refusal: null };
  }
  throw new Error('The configuration changes faster than it can be downloaded');

  function keeping(current: Polled | null): Pulled {
    return { bundle: current, isNew: false, lack: null, refusal: gate.refusal };
  }
}

/**
 * Takes a bundle into use.
 * @returns false when the server has another bundle by now
 * @throws SignatureRefused, or as `pull`
 */
async function take(polled: Polled, options: PullOptions, mayPollAgain: boolean): Promise<boolean> {
  const { api, bundles, gate, log } = options;
  const before = await bundles.current();
  const approve = () => gate.approve(polled, api, mayPollAgain);
  const isThere = (await bundles.describe(polled.checksum)) !== null;
  // The tags of a bundle that is not there are asked for when it has come, so that they are those of what came.
  let approval = isThere ? await approve() : null;
  if (isThere && approval === null) return false;
  if (approval === null || !(await stands(polled, bundles, approval))) {
    const hasCome = await fetchBundle(polled, options, async (folder, executables) => {
      approval ??= await approve();
      await approval?.checkFolder(folder, executables);
      return approval !== null;
    });
    if (!hasCome) return false;
  }
  if (approval === null) return false;
  await gate.admit(polled, approval);
  await bundles.switchTo(polled);
  const { configurationName, version, checksum } = polled;
  if (before?.checksum !== checksum) log.info({ configurationName, version, checksum }, 'switched');
  return true;
}

/** Whether the files on the disk are those that the tags list. Others are downloaded again. */
async function stands(
  polled: Polled,
  bundles: BundleStore,
  { answer, checkFolder }: Approval,
): Promise<boolean> {
  // Windows does not tell which files are executable.
  if (answer !== null && process.platform === 'win32') return false;
  try {
    await checkFolder(bundles.folderOf(polled), null);
    return true;
  } catch (error) {
    if (error instanceof SignatureRefused) return false;
    throw error;
  }
}

/** @returns false when the server sent another bundle than the one that was polled, or has another one by now */
async function fetchBundle(
  polled: Polled,
  { api, bundles, limit, onDownload }: PullOptions,
  check: CheckFolder,
): Promise<boolean> {
  await onDownload();
  const archive = bundles.downloadPath();
  try {
    const { headers, digest } = await api.downloadBundle(archive, limit);
    if (digest === null || promisedDigest(headers['repr-digest']) !== digest) {
      throw new Error('The bundle is not what its Repr-Digest says');
    }
    if (headers.etag !== `"${polled.checksum}"`) return false;
    return await bundles.install(polled, archive, limit, check);
  } finally {
    await rm(archive, { force: true });
  }
}

function promisedDigest(header: string | string[] | undefined): string | null {
  return SHA256_MEMBER.exec(String(header ?? ''))?.[1] ?? null;
}
