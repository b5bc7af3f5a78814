/** Makes a repository of parameter files with stock git, with one file for each of few or many scope values. */

import { execFileSync } from 'node:child_process';
import { toTimestamp } from '../../src/lib/clock.ts';

/** A scope and what its file sets. The value is null for Default. */
export interface ScopeContent {
  scopeType: string;
  value: string | null;
  text: string;
}

const IMPORT = 'refs/heads/import';
const PERSON = 'bench <bench@localhost>';
const VERSION = '1.0.0';

/**
 * Every scope gets version 1.0.0, with the commits, tags, trailers and branches that Hawser writes. Hawser itself
 * would take minutes for ten thousand, because it flushes each. The objects are loose, as Hawser writes them.
 */
export function makeParameterRepository(gitdir: string, scopes: readonly ScopeContent[]): void {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitdir]);
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', gitdir, '-c', 'fastimport.unpackLimit=10000000', ...args], { input });
  git(['fast-import', '--quiet'], importStream(scopes));
  git(['update-ref', '-d', IMPORT]);
  git(['pack-refs', '--all']);
}

function importStream(scopes: readonly ScopeContent[]): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const types = new Set(scopes.map(({ scopeType }) => scopeType));
  const branches = [...types].map((type) =>
    branchOf(
      type,
      scopes.filter(({ scopeType }) => scopeType === type),
      seconds,
    ),
  );
  return [...scopes.map((scope, at) => versionOf(scope, at, seconds)), ...branches].join('');
}

/** A commit without a parent and the tag object that publishes it. */
function versionOf(scope: ScopeContent, at: number, seconds: number): string {
  const path = pathOf(scope);
  const time = toTimestamp(seconds * 1_000);
  const when = `${PERSON} ${seconds} +0000`;
  return [
    `reset ${IMPORT}\ncommit ${IMPORT}\nmark :${at + 1}\ncommitter ${when}\n`,
    data(`Draft ${path} ${VERSION}\n\nParameter-Scope: ${path}\nCreated-At: ${time}`),
    fileOf(scope),
    `tag ${path}/v${VERSION}\nfrom :${at + 1}\ntagger ${when}\n`,
    data(`${path} ${VERSION}\n\nParameter-Scope: ${path}\nPublished-At: ${time}`),
  ].join('');
}

/** The branch that collects what the values of a type have published; here it has one commit. */
function branchOf(scopeType: string, scopes: readonly ScopeContent[], seconds: number): string {
  const head = `commit refs/heads/${scopeType}\ncommitter ${PERSON} ${seconds} +0000\n`;
  return [head, data(`${scopeType} ${VERSION}`), ...scopes.map(fileOf)].join('');
}

function pathOf({ scopeType, value }: ScopeContent): string {
  return value === null ? scopeType : `${scopeType}/${value}`;
}

function fileOf({ value, text }: ScopeContent): string {
  return `M 100644 inline ${value === null ? '' : `${value}/`}parameters.yaml\n${data(text)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
