/** How much room is left where the server writes: bytes, and places for files. */

import { statfs } from 'node:fs/promises';
import { type Check, describeFailure, type Finding, faultOf, warningOf } from './findings.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const MIN_BYTES = 100 * MIB;
const MIN_SHARE = 0.02;
const LOW_SHARE = 0.1;
const REMEDY = 'make room: at a full disk the server refuses every change (507 insufficient_storage)';

export async function checkDiskSpace(folders: readonly string[]): Promise<Check> {
  const findings: Finding[] = [];
  const summaries: string[] = [];
  for (const folder of folders) {
    try {
      const { bavail, blocks, bsize, ffree, files } = await statfs(folder);
      const free = bavail * bsize;
      summaries.push(`${formatSize(free)} free for ${folder}`);
      findings.push(
        ...judge(folder, `${formatSize(free)} are`, bavail / blocks, free < MIN_BYTES),
        // Some file systems make places as they are needed, and tell of none.
        ...(files > 0 ? judge(folder, `${ffree} places for files are`, ffree / files, false) : []),
      );
    } catch (error) {
      findings.push(warningOf(folder, `cannot be looked at: ${describeFailure(error)}`, null));
    }
  }
  return { name: 'disk space', summary: summaries.join(', ') || 'not known', findings };
}

function judge(folder: string, what: string, share: number, isTooSmall: boolean): Finding[] {
  const told = `${what} free, ${(share * 100).toFixed(1)} % of the disk`;
  if (share < MIN_SHARE || isTooSmall) return [faultOf(folder, told, REMEDY)];
  return share < LOW_SHARE ? [warningOf(folder, told, REMEDY)] : [];
}

function formatSize(bytes: number): string {
  return bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
}
