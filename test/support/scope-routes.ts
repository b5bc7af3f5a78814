/** One call of each route about the files of a scope, with the level that it asks for, each sure to succeed for who may. */

import type { GrantLevel } from '../../src/domain/permissions.ts';
import type { Client, Reply } from './client.ts';
import type { Hawser } from './hawser.ts';
import { ok } from './replies.ts';
import { SCOPE_TYPES } from './scopes.ts';

interface Series {
  type: string;
  configurationId: string;
  value: string | null;
}

export interface ScopeRoute {
  level: GrantLevel;
  name: string;
  call(client: Client): Promise<Reply>;
}

const WRONG = { reason: 'It is wrong' };

let serial = 0;

/** A version that no draft has. */
const next = (major: number) => {
  serial += 1;
  return `${major}.${serial}.0`;
};

export async function routesOf(
  { admin }: Pick<Hawser, 'admin'>,
  { type, configurationId, value }: Series,
): Promise<ScopeRoute[]> {
  const set = `/api/v1/parameters/${type}/${configurationId}`;
  const { name: scopeTypeName } = await ok(200, admin.get(`${SCOPE_TYPES}/${type}`));
  const of = (path: string) =>
    value === null ? `${set}${path}` : `${set}${path}${path.includes('?') ? '&' : '?'}scopeValue=${value}`;
  const named = value === null ? {} : { scopeValue: value };
  const draft = async (version = next(2)) => {
    await ok(201, admin.put(set, { version, content: `parameters: {note: draft-${version}}\n`, ...named }));
    return version;
  };
  const published = async () => {
    const version = await draft();
    await ok(200, admin.put(of(`/versions/${version}/publish`)));
    return version;
  };
  const read = (path: string): ScopeRoute => ({
    level: 'Read',
    name: `GET ${path}`,
    call: (client) => client.get(of(path)),
  });
  return [
    ...[
      '/versions/1.0.0',
      '/versions',
      '/majors',
      '/majors/1',
      '/compare?to=1.0.0',
      '/versions/1.0.0/blame',
    ].map(read),
    {
      ...{ level: 'Read', name: 'publish-check' },
      call: async (client) => client.get(of(`/versions/${await draft()}/publish-check`)),
    },
    {
      ...{ level: 'Modify', name: 'encrypt' },
      async call(client) {
        await draft();
        return client.post(`${set}/encrypt`, { path: '/parameters/note', value: 'x', ...named });
      },
    },
    {
      ...{ level: 'Manage', name: 'a dry run of withdraw' },
      call: async (client) => client.put(of(`/versions/${await published()}/withdraw?dryRun=true`)),
    },
    {
      ...{ level: 'Manage', name: 'withdraw' },
      call: async (client) => client.put(of(`/versions/${await published()}/withdraw`), WRONG),
    },
    {
      ...{ level: 'Manage', name: 'offer again' },
      async call(client) {
        const version = await published();
        await ok(200, admin.put(of(`/versions/${version}/withdraw`), WRONG));
        return client.delete(of(`/versions/${version}/withdraw`));
      },
    },
    {
      ...{ level: 'Modify', name: 'PUT' },
      call: async (client) =>
        client.put(set, { version: await draft(), content: 'parameters: {}\n', ...named }),
    },
    {
      ...{ level: 'Modify', name: 'PUT of a new draft' },
      call: (client) => client.put(set, { version: next(3), content: 'parameters: {}\n', ...named }),
    },
    {
      ...{ level: 'Modify', name: 'publish' },
      call: async (client) => client.put(of(`/versions/${await draft()}/publish`)),
    },
    {
      ...{ level: 'Modify', name: 'upload' },
      call: async (client) =>
        client.upload('/api/v1/configurations/web/parameters/parameter-files', {
          fields: { scopeTypeName, version: await draft(), ...named },
          part: { name: 'parametersFile', filename: 'p.yaml', content: 'parameters: {}\n' },
        }),
    },
    {
      ...{ level: 'Modify', name: 'folder' },
      call: (client) => {
        const scope = value === null ? scopeTypeName : `${scopeTypeName}/${value}`;
        const files = { [`parameters/web/${scope}.yaml`]: `parameters: {note: ${next(1)}}\n` };
        return client.upload('/api/v1/configurations/parameter-folder', { files });
      },
    },
    {
      ...{ level: 'Manage', name: 'DELETE' },
      call: async (client) => client.delete(of(`/versions/${await draft()}`)),
    },
  ];
}
