import type { Api } from '../../../src/client/api.ts';

/** Never runs: the compiler checks it. A line below "expect-error" that compiled would be the error. */
export async function misuse(api: Api): Promise<void> {
  const { name } = await api.get('/api/v1/configurations/{name}', { path: { name: 'web' } });
  const names: string = name;
  for await (const { fqdn } of api.list('/api/v1/nodes', { query: { status: 'Error' } })) names.concat(fqdn);
  await api.put('/api/v1/settings/validation', { json: { requireSemVer: true } });
  await api.post('/api/v1/configurations', { form: { fields: { name: 'web' }, files: [] } });
  await api.get('/api/v1/auth/me');

  // @ts-expect-error there is no such path
  await api.get('/api/v1/configuration');
  // @ts-expect-error the path does not have this method
  await api.delete('/api/v1/configurations');
  // @ts-expect-error the name is missing
  await api.get('/api/v1/configurations/{name}');
  // @ts-expect-error the path has no such part
  await api.get('/api/v1/configurations/{name}', { path: { nam: 'web' } });
  // @ts-expect-error the query has no such member
  await api.get('/api/v1/nodes', { query: { state: 'Error' } });
  // @ts-expect-error a node has no such status
  await api.get('/api/v1/nodes', { query: { status: 'Broken' } });
  // @ts-expect-error the body has no such member
  await api.put('/api/v1/settings/validation', { json: { requireSemver: true } });
  // @ts-expect-error the body is a form
  await api.post('/api/v1/configurations', { json: { name: 'web' } });
  // @ts-expect-error this is no list of pages
  api.list('/api/v1/auth/me');
  // @ts-expect-error the answer has no such member
  (await api.get('/api/v1/auth/me')).userName;
}
