/** Cleanups among the acts of the clients: retention of some configurations, and runs that delete their versions. */

import { type Act, attempt, type Bench, partsOf, unexpected } from '../crash/acts/act.ts';
import { pickConfiguration } from '../crash/acts/configurations.ts';

/** The server's own rule of a run. It keeps the versions of all configurations without retention of their own. */
const KEEP_ALL = { keepVersions: 100_000, keepDays: 36_500, keepReleaseVersions: true };
const KEEP_ONE = { enabled: true, keepVersions: 1, keepDays: 0, keepReleaseVersions: false };

export interface Retention {
  limitVersions: Act;
  cleanUp: Act;
}

/** The acts of the clients of one site. */
export function retentionActs(): Retention {
  /** The configurations of which a run may delete versions. */
  const limited = new Set<string>();
  /** How many runs are under way. */
  let runs = 0;

  const limitVersions: Act = async (bench) => {
    const name = pickConfiguration(bench);
    // A run that is under way may take the new rule or not.
    if (name === undefined || limited.has(name) || runs > 0) return false;
    limited.add(name);
    const key = `configurations/${name}`;
    await attempt(bench, {
      what: 'limit the versions of a configuration',
      after: { [key]: bench.model.state(key) },
      call: () => bench.client.put(`/api/v1/configurations/${name}/settings/retention`, KEEP_ONE),
    });
    return true;
  };

  const cleanUp: Act = async ({ client, model }) => {
    const names = [...limited].filter((name) => model.state(`configurations/${name}`) !== null);
    const published = names.flatMap((name) => publishedOf(model, name));
    const starts = names.flatMap((name) => [`configurations/${name}`, `versions/${name}/`]);
    if (published.length === 0 || model.isBusy(...starts)) return false;
    // Nobody else may change or delete them meanwhile.
    const held = names.map((name) => `configurations/${name}`);
    const hold = model.begin('hold', Object.fromEntries(held.map((key) => [key, model.state(key)])));
    // A run that is cut off has deleted some versions, each of them wholly.
    const removals = published.map((key) => {
      const rollout = key.replace(/^versions/, 'rollouts');
      const keys = model.state(rollout) === null ? [key] : [key, rollout];
      return { key, change: model.begin('clean up', Object.fromEntries(keys.map((each) => [each, null]))) };
    });
    runs += 1;
    const reply = await client.post('/api/v1/retention/configurations/cleanup', KEEP_ALL).finally(() => {
      runs -= 1;
    });
    if (reply.status !== 200) throw unexpected('clean up', reply);
    const gone = new Set<string>(
      reply.json.deletedVersions.map((each: Record<string, string>) => `${each['name']}/${each['version']}`),
    );
    for (const { key, change } of removals) {
      if (gone.has(partsOf(key).join('/'))) model.acknowledge(change);
      else model.refuse(change);
    }
    model.refuse(hold);
    return true;
  };

  return { limitVersions, cleanUp };
}

function publishedOf(model: Bench['model'], name: string): string[] {
  return model.keys(`versions/${name}/`).filter((key) => model.state(key).status === 'Published');
}
