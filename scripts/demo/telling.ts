/** What the parts of the demo's story share: how it is told, what is published, and what nodes are seen to do. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Files, Poll, RegisteredNode } from '../support/hawser-client.ts';
import type { TemporaryServer } from '../support/temporary-server.ts';

/** Prints what is about to happen, does it, and prints the lines of proof that it returns. */
export type Tell = <T>(what: string, step: () => Promise<{ proof: string[]; result: T }>) => Promise<T>;

export const NAME = 'web';

export function filesOf(version: string): Files {
  return {
    'main.dsc.yaml': [
      '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json',
      'resources:',
      '  - name: greeting',
      '    type: Microsoft.DSC.Debug/Echo',
      '    properties:',
      `      output: Hello from version ${version}`,
      '',
    ].join('\n'),
    'docs/notes.md': `Version ${version}\n`,
  };
}

export async function pullVersion(
  node: RegisteredNode,
  version: string,
  known?: string,
): Promise<{ result: Poll; proof: string[] }> {
  const poll = await node.poll(known);
  check(poll.isNew && poll.version === version, `the poll shows ${version}, not ${poll.version}`);
  const files = await node.pull();
  const expected = filesOf(version);
  const paths = Object.keys(files).sort();
  check(paths.join() === Object.keys(expected).sort().join(), 'the bundle holds exactly the uploaded files');
  for (const path of paths) check(files[path] === expected[path], `${path} is what the author wrote`);
  return {
    result: poll,
    proof: [`200: version ${version}, checksum ${short(poll.checksum)}`, `bundle: ${paths.join(', ')}`],
  };
}

export async function unchanged(node: RegisteredNode, known: Poll, name: string): Promise<string> {
  const poll = await node.poll(known.checksum);
  check(!poll.isNew, `${name} gets 304, not version ${poll.version}`);
  return `304: ${name} still has checksum ${short(known.checksum)}`;
}

export function git({ reposDir }: TemporaryServer, ...args: string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const folder = join(reposDir, `configurations/${NAME}.git`);
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', env });
}

export const short = (hash: string) => hash.slice(0, 12).toLowerCase();

export function check(holds: boolean, expectation: string): void {
  if (!holds) throw new Error(`expected: ${expectation}`);
}
