/** Acts on accounts and the roles that they hold. */

import { type Act, attempt } from './act.ts';

const PATH = '/api/v1/users';

/** Makes service accounts, because hashing a password takes longer than everything else in a round. */
export const createUser: Act = async (bench) => {
  const username = `u${bench.model.next()}`;
  const key = `users/${username}`;
  const email = `${username}@example.org`;
  const reply = await attempt(bench, {
    what: 'create a user',
    after: { [key]: { email, roles: [] } },
    call: () => bench.client.post(PATH, { username, email, accountType: 'ServiceAccount' }),
  });
  if (reply) bench.model.ids.set(key, reply.json.id);
  return true;
};

export const assignRoles: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('users/'));
  const roleIds = model.roleIds.filter(() => random.below(2) === 0).sort();
  if (key === undefined) return false;
  await attempt(bench, {
    what: 'assign roles',
    after: { [key]: { ...model.state(key), roles: roleIds } },
    call: () => client.put(`${PATH}/${model.ids.get(key)}/roles`, { roleIds }),
  });
  return true;
};

export const deleteUser: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('users/'));
  if (key === undefined) return false;
  await attempt(bench, {
    what: 'delete a user',
    after: { [key]: null },
    call: () => client.delete(`${PATH}/${model.ids.get(key)}`),
  });
  return true;
};
