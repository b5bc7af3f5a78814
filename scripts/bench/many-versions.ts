/** Makes repositories with many versions: the template, with lower versions added by stock git, and packed refs. */

import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { toTimestamp } from '../../src/lib/clock.ts';
import { filesOf, VERSIONS } from './fleet.ts';

const BRANCH = 'refs/heads/import';
const PERSON = 'bench <bench@localhost>';

/**
 * Copies the template to `folder` and adds `0.x.0` until it has `versions`; its highest version stays the same.
 * Hawser itself would take minutes for thousands, because it flushes each. The objects are loose, as Hawser writes
 * them.
 */
export function makeManyVersions(folder: string, template: string, versions: number): void {
  cpSync(template, folder, { recursive: true });
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', folder, '-c', 'fastimport.unpackLimit=10000000', ...args], { input });
  if (versions > VERSIONS) {
    git(['fast-import', '--quiet'], importStream(versions - VERSIONS));
    git(['update-ref', '-d', BRANCH]);
  }
  git(['pack-refs', '--all']);
}

/** Each version changes only the entry point. */
function importStream(count: number): string {
  const seconds = Math.floor(Date.now() / 1_000);
  return Array.from({ length: count }, (_, minor) => importOf(minor, seconds)).join('');
}

/** A commit and the tag object that publishes it, with the trailers that Hawser writes. */
function importOf(minor: number, seconds: number): string {
  const version = `0.${minor}.0`;
  const when = `${PERSON} ${seconds} +0000`;
  const entryPoint = 'Entry-Point: main.dsc.yaml';
  const time = toTimestamp(seconds * 1_000);
  // The first version has all files. In later ones, the files that they do not name stay.
  const files = minor === 0 ? filesOf(0) : filesOf(minor).slice(0, 1);
  return [
    `commit ${BRANCH}\nmark :${minor + 1}\ncommitter ${when}\n`,
    data(`Draft ${version}\n\n${entryPoint}\nCreated-At: ${time}`),
    ...files.map(({ path, content }) => `M 100644 inline ${path}\n${data(content.toString())}`),
    `tag v${version}\nfrom :${minor + 1}\ntagger ${when}\n`,
    data(`Version ${version}\n\n${entryPoint}\nPublished-At: ${time}`),
  ].join('');
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
