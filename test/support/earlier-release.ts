/** A built copy of the commit before this one, to be run beside it. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gte } from 'semver';
import { PROJECT } from '../../scripts/support/project.ts';
import { OLDEST_RELEASE } from '../../src/db/oldest-release.ts';

export interface EarlierRelease {
  /** The folder of its project. */
  folder: string;
  remove(): void;
}

/** Builds the last commit but one, or this one where that could not run beside it. */
export function buildEarlierRelease(): EarlierRelease {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-earlier-'));
  for (const commit of ['HEAD~1', 'HEAD']) {
    const copy = join(folder, commit);
    mkdirSync(copy);
    const archive = execFileSync('git', ['-C', PROJECT, 'archive', commit], { maxBuffer: 2 ** 30 });
    execFileSync('tar', ['-x', '-C', copy], { input: archive });
    const { version } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
    if (!gte(version, OLDEST_RELEASE)) continue;
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.js'], { cwd: copy, stdio: 'pipe' });
    return { folder: copy, remove: () => rmSync(folder, { recursive: true }) };
  }
  throw new Error('This release could not run beside itself');
}
