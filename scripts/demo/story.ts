/** The demo's story, step by step: each step says what happens, and proves that it did. */

import { Administrator, type Poll, type RegisteredNode } from '../support/hawser-client.ts';
import type { TemporaryServer } from '../support/temporary-server.ts';
import { tellRollouts } from './rollouts.ts';
import { check, filesOf, git, NAME, pullVersion, short, type Tell, unchanged } from './telling.ts';

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
    await tellRollouts({ server, admin, canary: follower, other: pinned }, tell);
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
