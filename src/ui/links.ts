/** The addresses of pages. Names come from people, so each of them is encoded. */

const encode = encodeURIComponent;

export type Kind = 'configurations' | 'composites';

export const links = {
  fleet: '/ui/',
  nodes: (query: Record<string, string> = {}) => withQuery('/ui/nodes', query),
  node: (id: string, tab = '') => join(`/ui/nodes/${encode(id)}`, tab),
  reports: (query: Record<string, string> = {}) => withQuery('/ui/reports', query),
  report: (id: string) => `/ui/reports/${encode(id)}`,
  list: (kind: Kind) => `/ui/${kind}`,
  named: (kind: Kind, name: string, tab = '') => join(`/ui/${kind}/${encode(name)}`, tab),
  version: (kind: Kind, name: string, version: string, query: Record<string, string> = {}) =>
    withQuery(`/ui/${kind}/${encode(name)}/versions/${encode(version)}`, query),
  draft: (kind: Kind, name: string, version: string) =>
    `/ui/${kind}/${encode(name)}/drafts/${encode(version)}`,
  review: (kind: Kind, name: string, version: string) =>
    `/ui/${kind}/${encode(name)}/drafts/${encode(version)}/review`,
  rollout: (kind: Kind, name: string, version: string) =>
    `/ui/${kind}/${encode(name)}/rollouts/${encode(version)}`,
  compare: (kind: Kind, name: string, from: string, to: string) =>
    `/ui/${kind}/${encode(name)}/compare/${encode(from)}...${encode(to)}`,
  parameters: (name: string) => `/ui/configurations/${encode(name)}/parameters`,
  parameterFile: (
    name: string,
    file: { scopeTypeName: string; scopeValue: string | null; version: string },
  ) =>
    withQuery(`/ui/configurations/${encode(name)}/parameters/file`, {
      scopeTypeName: file.scopeTypeName,
      ...(file.scopeValue === null ? {} : { scopeValue: file.scopeValue }),
      version: file.version,
    }),
  user: (id: string) => `/ui/access/users/${encode(id)}`,
  group: (id: string) => `/ui/access/groups/${encode(id)}`,
  role: (id: string) => `/ui/access/roles/${encode(id)}`,
  changeSets: (query: Record<string, string> = {}) => withQuery('/ui/change-sets', query),
  changeSet: (id: number) => `/ui/change-sets/${id}`,
  webhook: (id: string) => `/ui/webhooks/${encode(id)}`,
};

/** The path of something in the API. */
export function apiPath(...segments: readonly string[]): string {
  return segments.map((segment) => `/${encode(segment)}`).join('');
}

/** The path in the API of a configuration or composite, or of something below it. */
export function apiOf(kind: Kind, name: string, ...segments: readonly string[]): string {
  return apiPath(kind === 'composites' ? 'composite-configurations' : kind, name, ...segments);
}

/** Adds a query to a path. Members without a value are left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** The two versions of a comparison's address, such as `1.0.0...1.1.0`. Versions have no `..` in them. */
export function rangeOf(range: string): { from: string; to: string } {
  const at = range.indexOf('...');
  return at < 0 ? { from: '', to: range } : { from: range.slice(0, at), to: range.slice(at + 3) };
}

function join(path: string, tab: string): string {
  return tab === '' ? path : `${path}/${tab}`;
}
