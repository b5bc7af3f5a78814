/** Clones of repositories over HTTPS, as whoever has a token makes them, checked by stock git. */

import { join } from 'node:path';
import { expect } from 'chai';
import pLimit from 'p-limit';
import { gitClient } from '../git-client.ts';
import { partsOf } from './acts/act.ts';
import type { Model } from './model.ts';
import { checkRepository } from './repository-checks.ts';

/** Each takes some four processes. */
const AT_ONCE = 3;

/** The kind of repository in which the state with such a key is. */
const KINDS: Record<string, string> = {
  configurations: 'configurations',
  versions: 'configurations',
  composites: 'composites',
  'composite-versions': 'composites',
  parameters: 'parameters',
};

/** The repositories in which the states with these keys are and that must be there, such as `configurations/web`. */
export function repositoriesOf(model: Model, keys: readonly string[]): string[] {
  const found = keys.flatMap((key) => {
    const kind = KINDS[key.split('/')[0] ?? ''];
    const [name] = partsOf(key);
    if (kind === undefined || name === undefined) return [];
    // A repository of parameters is there as long as it has any.
    const isThere =
      kind === 'parameters'
        ? model.keys(`parameters/${name}/`).length > 0
        : model.state(`${kind}/${name}`) !== null;
    return isThere ? [`${kind}/${name}`] : [];
  });
  const hasSets = keys.some((key) => key.startsWith('change-sets/') && model.state(key) !== null);
  return [...new Set(hasSets ? [...found, 'changes'] : found)].sort();
}

/**
 * Clones each repository from the server and checks the clone: it must be whole, and have the refs of the versions that
 * the model knows.
 * @returns how many were cloned
 */
export async function checkMirrors(
  { dataDir, port }: { dataDir: string; port: number },
  { model, token, repositories }: { model: Model; token: string; repositories: readonly string[] },
): Promise<number> {
  const client = gitClient({ dataDir, server: { port } });
  const limit = pLimit(AT_ONCE);
  try {
    const check = async (repository: string) => {
      const [kind = '', name = ''] = repository.split('/');
      const target = `${kind}-${name}`;
      const { code, output } = await client.run(
        'clone',
        '-q',
        '--mirror',
        client.url(repository, token),
        target,
      );
      expect(code, `a clone of ${repository} from port ${port}: ${output}`).to.equal(0);
      await checkRepository(model, { kind, name, folder: join(client.folder, target) });
    };
    // All end before the folder is removed.
    const checks = await Promise.allSettled(repositories.map((repository) => limit(check, repository)));
    for (const each of checks) if (each.status === 'rejected') throw each.reason;
    return repositories.length;
  } finally {
    client.close();
  }
}
