/** Reads the state of everything through the API, in the form of the model. */

import type { Client, Reply, Target } from '../client.ts';
import { asNode, partsOf } from './acts/act.ts';
import { noteSet } from './acts/change-sets.ts';
import { parametersPath, queryOf } from './acts/parameters.ts';
import type { Model, State } from './model.ts';

type Row = Reply['json'];

export class Reader {
  private readonly client: Client;
  private readonly target: Target;
  private readonly model: Model;
  /** Lists that contain many states. Each list is read once. */
  private readonly lists = new Map<string, Promise<Row[]>>();

  constructor(client: Client, target: Target, model: Model) {
    this.client = client;
    this.target = target;
    this.model = model;
  }

  /** @throws Error for any answer but 200 and 404 */
  async read(key: string): Promise<State> {
    const [kind] = key.split('/');
    if (kind === 'configurations') return this.configuration(key);
    if (kind === 'versions') return this.version(key);
    if (kind === 'rollouts') return this.rollout(key);
    if (kind === 'composites') return this.composite(key);
    if (kind === 'composite-versions') return this.compositeVersion(key);
    if (kind === 'parameters') return this.parameters(key);
    if (kind === 'nodes') return this.node(key);
    if (kind === 'users') return this.user(key);
    if (kind === 'change-sets') return this.changeSet(key);
    return kind === 'scope-types' ? this.scopeType(key) : this.scopeValue(key);
  }

  /** Whether the node may use its own routes with its certificate. */
  async isLetIn(key: string): Promise<boolean> {
    const path = `/api/v1/nodes/${this.model.ids.get(key)}/lcm-config`;
    const { thumbprint } = this.model.state(key);
    const bench = { model: this.model, target: this.target };
    return (await asNode(bench, thumbprint, (node) => node.get(path))).status === 200;
  }

  /** All rows of a list, page by page. */
  list(path: string): Promise<Row[]> {
    const known = this.lists.get(path);
    if (known) return known;
    const list = this.readList(path);
    this.lists.set(path, list);
    return list;
  }

  private async configuration(key: string): Promise<State> {
    const view = await this.get(`/api/v1/${key}`);
    if (!view) return null;
    this.model.ids.set(key, view.id);
    return { description: view.description };
  }

  private async version(key: string): Promise<State> {
    const [name, version] = partsOf(key);
    const view = await this.get(`/api/v1/configurations/${name}/versions/${version}`);
    if (!view) return null;
    const { status, entryPoint, createdBy, publishedBy } = view;
    const files = Object.fromEntries(view.files.map((file: Row) => [file.path, file.checksum]));
    return { status, entryPoint, createdBy, publishedBy, withdrawn: view.withdrawn?.reason ?? null, files };
  }

  private async rollout(key: string): Promise<State> {
    const [name, version] = partsOf(key);
    const view = await this.get(`/api/v1/configurations/${name}/rollouts/${version}`);
    // The server passes steps without nodes at a time of its own.
    const moves = view?.history
      .filter(({ actorName }: Row) => actorName !== 'Hawser')
      .map(({ to }: Row) => to);
    return view && { state: moves.at(-1), moves };
  }

  private async composite(key: string): Promise<State> {
    const view = await this.get(`/api/v1/composite-configurations/${partsOf(key)[0]}`);
    return view && { description: view.description };
  }

  private async compositeVersion(key: string): Promise<State> {
    const [name, version] = partsOf(key);
    const view = await this.get(`/api/v1/composite-configurations/${name}/versions/${version}`);
    if (!view) return null;
    const items = view.items.map((item: Row) => [item.childConfigurationName, item.order]);
    return { status: view.status, items, withdrawn: view.withdrawn?.reason ?? null };
  }

  private async parameters(key: string): Promise<State> {
    const [name = '', type = '', value = '', version] = partsOf(key);
    const path = parametersPath({ model: this.model }, name, type);
    // It is gone together with its configuration, which is read separately.
    const isThere = (await this.read(`configurations/${name}`)) !== null;
    if (path === null || !isThere) return null;
    const files = await this.readList(`${path}/versions${queryOf(value)}`);
    const file = files.find((view) => view.version === version);
    return file
      ? { status: file.status, checksum: file.checksum, withdrawn: file.withdrawn?.reason ?? null }
      : null;
  }

  private async node(key: string): Promise<State> {
    const [fqdn] = partsOf(key);
    const [row] = (await this.list('/api/v1/nodes')).filter((view) => view.fqdn === fqdn);
    if (!row) return null;
    this.model.ids.set(key, row.id);
    const path = `/api/v1/nodes/${row.id}`;
    const view = await this.get(path);
    const reports = await this.readList(`${path}/reports`);
    return {
      thumbprint: view.certificate.thumbprint,
      pending: view.certificate.pendingThumbprint,
      assigned: view.assignment?.configurationName ?? null,
      tags: view.tags.map((tag: Row) => `${tag.scopeTypeName}/${tag.scopeValue}`).sort(),
      status: view.status,
      reports: (await Promise.all(reports.map(({ id }) => this.markerOf(id)))).sort(),
    };
  }

  private async user(key: string): Promise<State> {
    const [name] = partsOf(key);
    const row = (await this.list('/api/v1/users')).find((view) => view.username === name);
    if (!row) return null;
    this.model.ids.set(key, row.id);
    const view = await this.get(`/api/v1/users/${row.id}`);
    return { email: view.email, roles: view.roles.map((role: Row) => role.id).sort() };
  }

  private async changeSet(key: string): Promise<State> {
    const [title = ''] = partsOf(key);
    const row = (await this.list('/api/v1/change-sets')).find((view) => view.title === title);
    if (!row) return null;
    noteSet({ model: this.model }, title, row);
    return { state: row.state };
  }

  private async scopeType(key: string): Promise<State> {
    const [name] = partsOf(key);
    const row = (await this.list('/api/v1/scope-types')).find((view) => view.name === name);
    if (!row) return null;
    this.model.ids.set(key, row.id);
    return { precedence: row.precedence };
  }

  private async scopeValue(key: string): Promise<State> {
    const [type, value] = partsOf(key);
    await this.scopeType(`scope-types/${type}`);
    const typeId = this.model.ids.get(`scope-types/${type}`);
    const row = (await this.list(`/api/v1/scope-types/${typeId}/values`)).find(
      (view) => view.value === value,
    );
    if (!row) return null;
    this.model.ids.set(key, row.id);
    return { description: row.description };
  }

  private async markerOf(reportId: string): Promise<string> {
    const { markers } = this.model;
    const known = markers.get(reportId);
    if (known !== undefined) return known;
    const marker = (await this.get(`/api/v1/reports/${reportId}`)).result.metadata.marker;
    markers.set(reportId, marker);
    return marker;
  }

  /** Null for a 404. */
  private async get(path: string): Promise<Row | null> {
    const reply = await this.client.get(path);
    if (reply.status === 404) return null;
    if (reply.status !== 200) throw new Error(`${path}: answered ${reply.status} ${reply.text}`);
    return reply.json;
  }

  private async readList(path: string): Promise<Row[]> {
    const found: Row[] = [];
    for (;;) {
      const query = `${path.includes('?') ? '&' : '?'}take=1000&skip=${found.length}`;
      const reply = await this.client.get(path + query);
      if (reply.status !== 200) throw new Error(`${path}: answered ${reply.status} ${reply.text}`);
      found.push(...reply.json);
      const total = Number(reply.headers['x-total-count'] ?? found.length);
      if (found.length >= total) return found;
    }
  }
}
