/** The demo's story, step by step: each step says what happens, and proves that it did. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Administrator, type Files, type Poll, type RegisteredNode } from '../support/hawser-client.ts';
import type { TemporaryServer } from '../support/temporary-server.ts';

/** Prints what is about to happen, does it, and prints the lines of proof that it returns. */
export type Tell = <T>(what: string, step: () => Promise<{ proof: string[]; result: T }>) => Promise<T>;

const NAME = 'web';

function filesOf(version: string): Files {
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

/** @throws Error from the first step that does not hold */
export async function playStory(server: TemporaryServer, tell: Tell): Promise<void> {
  const admin = await tell('An administrator signs in and makes a token', async () => {
    const result = await Administrator.signIn(server.target, server.password, server.password);
    return { result, proof: [`server at ${server.url}`] };
  });
  const nodes: RegisteredNode[] = [];
  try {
    await publishFirst(server, admin, tell);
    const [follower, pinned] = await registerBoth(admin, nodes, tell);
    const first = await pullBoth(admin, follower, pinned, tell);
    await publishSecond(server, admin, follower, first, tell);
    await seeOrNot(follower, pinned, first, tell);
    await stayOut(follower, pinned, tell);
  } finally {
    admin.close();
    for (const node of nodes) node.close();
  }
}

async function publishFirst(server: TemporaryServer, admin: Administrator, tell: Tell): Promise<void> {
  await tell(`An author creates the configuration "${NAME}" and publishes 1.0.0`, async () => {
    await admin.createConfiguration(NAME, '1.0.0', filesOf('1.0.0'));
    const commit = await admin.publish(NAME, '1.0.0');
    return { result: undefined, proof: [logLine(server, 'v1.0.0', commit)] };
  });
}

async function registerBoth(
  admin: Administrator,
  nodes: RegisteredNode[],
  tell: Tell,
): Promise<[RegisteredNode, RegisteredNode]> {
  const register = (fqdn: string) =>
    tell(`${fqdn} registers, with a key and a certificate of its own`, async () => {
      const node = await admin.registerNode(fqdn);
      nodes.push(node);
      return { result: node, proof: [`node ${node.id}, certificate ${short(node.thumbprint)}`] };
    });
  return [await register('web-01.example.org'), await register('web-02.example.org')];
}

async function pullBoth(
  admin: Administrator,
  follower: RegisteredNode,
  pinned: RegisteredNode,
  tell: Tell,
): Promise<Poll> {
  const first = await tell(`"${NAME}" is assigned to web-01, which polls and pulls`, async () => {
    await admin.assign(follower, NAME);
    return pullVersion(follower, '1.0.0');
  });
  await tell(`"${NAME}" is assigned to web-02, pinned to major version 1`, async () => {
    await admin.assign(pinned, NAME, 1);
    const { result, proof } = await pullVersion(pinned, '1.0.0');
    check(result.checksum === first.checksum, 'both nodes have the same checksum');
    return { result, proof: [...proof, 'the same checksum as web-01'] };
  });
  return first;
}

async function publishSecond(
  server: TemporaryServer,
  admin: Administrator,
  follower: RegisteredNode,
  first: Poll,
  tell: Tell,
): Promise<void> {
  await tell('The author uploads 2.0.0 as a draft; no node sees it', async () => {
    await admin.createDraft(NAME, '2.0.0', filesOf('2.0.0'));
    return { result: undefined, proof: [await unchanged(follower, first, 'web-01')] };
  });
  await tell('The author publishes 2.0.0', async () => {
    const commit = await admin.publish(NAME, '2.0.0');
    const changed = git(server, 'diff', '--stat', 'v1.0.0', 'v2.0.0').trimEnd().split('\n');
    check(changed.length === 3, 'git diff shows both files');
    return { result: undefined, proof: [logLine(server, 'v2.0.0', commit), ...changed] };
  });
}

async function seeOrNot(
  follower: RegisteredNode,
  pinned: RegisteredNode,
  first: Poll,
  tell: Tell,
): Promise<void> {
  await tell('web-01 polls with the checksum it has, sees 2.0.0 and pulls it', () =>
    pullVersion(follower, '2.0.0', first.checksum),
  );
  await tell('web-02 polls too; pinned to major version 1, it stays where it is', async () => {
    return { result: undefined, proof: [await unchanged(pinned, first, 'web-02')] };
  });
}

async function stayOut(follower: RegisteredNode, pinned: RegisteredNode, tell: Tell): Promise<void> {
  await tell("web-02 asks for web-01's configuration with its own certificate", async () => {
    const status = await pinned.statusOfOther(follower);
    check(status === 403, `the answer is 403, not ${status}`);
    return { result: undefined, proof: ['403: a certificate opens its own node and no other'] };
  });
}

async function pullVersion(
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

async function unchanged(node: RegisteredNode, known: Poll, name: string): Promise<string> {
  const poll = await node.poll(known.checksum);
  check(!poll.isNew, `${name} gets 304, not version ${poll.version}`);
  return `304: ${name} still has checksum ${short(known.checksum)}`;
}

/**
 * The line that stock git prints about the tag in the bare repository. Checks that the tag points to the commit that
 * the API named.
 */
function logLine(server: TemporaryServer, tag: string, commit: string): string {
  const format = '--format=%H git log: %h%d %an, %s';
  const [id, ...line] = git(server, 'log', '-1', format, tag).trim().split(' ');
  check(id === commit, `tag ${tag} leads to commit ${short(commit)}`);
  return line.join(' ');
}

function git({ reposDir }: TemporaryServer, ...args: string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const folder = join(reposDir, `configurations/${NAME}.git`);
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', env });
}

const short = (hash: string) => hash.slice(0, 12).toLowerCase();

function check(holds: boolean, expectation: string): void {
  if (!holds) throw new Error(`expected: ${expectation}`);
}
