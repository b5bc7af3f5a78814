/** Every kind of request that changes a repository. */

import { expect } from 'chai';
import type { Client } from './client.ts';
import {
  addChild,
  addCompositeDraft,
  COMPOSITES,
  childrenOf,
  compositeOf,
  compositeVersionsOf,
  createComposite,
  publishComposite,
  publishWithChildren,
} from './composites.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from './configurations.ts';
import type { Write } from './fault-sweep.ts';
import type { Hawser } from './hawser.ts';
import { configurationId } from './parameter-files.ts';
import { uploadSchema } from './parameter-schemas.ts';
import { ok } from './replies.ts';
import { NOTHING_KEPT, RETENTION } from './retention.ts';
import { DEFAULT_ID } from './scopes.ts';

export function repositoryWrites({ admin }: Hawser): Write[] {
  const draft = (n: number) => `1.${n}.0`;
  const file = (n: number) => ({
    files: { [MAIN]: `$schema: x\nresources: [] # ${n}\n`, 'more/notes.txt': `${n}\n` },
  });
  const versions = (name: string) => [versionsOf(name), `${CONFIGURATIONS}/${name}`];
  const made = (name: string) => () => ok(201, create(admin, name));
  return [
    {
      what: 'a new configuration',
      status: 201,
      send: (n) => create(admin, `new-${n}`, {}, file(n)),
      shownAt: [`${CONFIGURATIONS}?take=1000`],
    },
    {
      what: 'a new version',
      status: 201,
      setUp: made('drafted'),
      send: (n) => addVersion(admin, 'drafted', { version: draft(n) }, file(n)),
      shownAt: versions('drafted'),
    },
    {
      what: "a draft's other files",
      status: 200,
      setUp: made('replaced'),
      send: (n) => admin.call('PUT', `${versionsOf('replaced')}/1.0.0`, { form: file(n) }),
      shownAt: [...versions('replaced'), `${versionsOf('replaced')}/1.0.0`],
    },
    {
      what: 'publishing',
      status: 200,
      setUp: made('published'),
      prepare: (n) => ok(201, addVersion(admin, 'published', { version: draft(n) })),
      send: (n) => publish(admin, 'published', draft(n)),
      shownAt: versions('published'),
    },
    {
      what: 'the end of a draft',
      status: 204,
      setUp: made('undrafted'),
      prepare: (n) => ok(201, addVersion(admin, 'undrafted', { version: draft(n) })),
      send: (n) => admin.delete(`${versionsOf('undrafted')}/${draft(n)}`),
      shownAt: versions('undrafted'),
    },
    {
      what: 'the end of a configuration',
      status: 204,
      prepare: (n) => ok(201, create(admin, `ended-${n}`)),
      send: (n) => admin.delete(`${CONFIGURATIONS}/ended-${n}`),
      shownAt: [`${CONFIGURATIONS}?take=1000`],
    },
    ...compositeWrites(admin),
    ...parameterWrites(admin),
    {
      what: 'a cleanup of versions',
      status: 200,
      setUp: made('cleaned'),
      prepare: async (n) => {
        for (const version of [`${n}.0.1`, `${n}.0.2`]) {
          await ok(201, addVersion(admin, 'cleaned', { version }));
          await ok(200, publish(admin, 'cleaned', version));
        }
      },
      send: () => admin.post(`${RETENTION}/configurations/cleanup`, NOTHING_KEPT),
      // What it has deleted stays deleted even if it fails later, and its history says so.
      shownAt: [],
    },
  ];
}

function compositeWrites(admin: Client): Write[] {
  const version = (n: number) => `1.${n}.0`;
  const site = (name: string) => async () => {
    const there = await admin.get(`${CONFIGURATIONS}/part`);
    if (there.status === 404) await ok(201, create(admin, 'part'));
    if (there.status === 404) await ok(200, publish(admin, 'part', '1.0.0'));
    await publishWithChildren(admin, name, '1.0.0', ['part']);
  };
  let child = '';
  const withChild = (name: string) => async (n: number) => {
    await ok(201, addCompositeDraft(admin, name, version(n)));
    const { id } = await ok(201, addChild(admin, name, version(n), 'part'));
    child = `${childrenOf(name, version(n))}/${id}`;
  };
  const shownAt = (name: string) => [compositeOf(name), compositeVersionsOf(name)];
  return [
    {
      what: 'a new composite',
      status: 201,
      send: (n) => createComposite(admin, `new-${n}`),
      shownAt: [`${COMPOSITES}?take=1000`],
    },
    {
      what: 'a new version of a composite',
      status: 201,
      setUp: site('site-drafts'),
      send: (n) => addCompositeDraft(admin, 'site-drafts', version(n)),
      shownAt: shownAt('site-drafts'),
    },
    {
      what: 'a child',
      status: 201,
      setUp: site('site-children'),
      prepare: (n) => ok(201, addCompositeDraft(admin, 'site-children', version(n))),
      send: (n) => addChild(admin, 'site-children', version(n), 'part'),
      shownAt: shownAt('site-children'),
    },
    {
      what: "a child's other order",
      status: 200,
      setUp: site('site-orders'),
      prepare: withChild('site-orders'),
      send: () => admin.put(child, { order: 7 }),
      shownAt: shownAt('site-orders'),
    },
    {
      what: 'the end of a child',
      status: 204,
      setUp: site('site-orphans'),
      prepare: withChild('site-orphans'),
      send: () => admin.delete(child),
      shownAt: shownAt('site-orphans'),
    },
    {
      what: 'publishing a composite',
      status: 200,
      setUp: site('site-published'),
      prepare: withChild('site-published'),
      send: (n) => publishComposite(admin, 'site-published', version(n)),
      shownAt: shownAt('site-published'),
    },
  ];
}

function parameterWrites(admin: Client): Write[] {
  const version = (n: number) => `1.${n}.0`;
  const ids = new Map<string, string>();
  const setUp = (name: string) => async () => {
    await ok(201, create(admin, name));
    ids.set(name, await configurationId(admin, name));
  };
  const path = (name: string) => `/api/v1/parameters/${DEFAULT_ID}/${ids.get(name)}`;
  const save = async (name: string, n: number, content: string) => {
    const reply = await admin.put(path(name), {
      version: version(n),
      content: `parameters: {a: ${content}}\n`,
    });
    expect(reply.status, reply.text).to.be.oneOf([200, 201]);
  };
  const shownAt = (name: string) => ({
    get shownAt() {
      return [`${path(name)}/versions`, `${CONFIGURATIONS}/${name}`];
    },
  });
  return [
    {
      what: 'a new parameter file',
      status: 201,
      setUp: setUp('values'),
      send: (n) => admin.put(path('values'), { version: version(n), content: `parameters: {n: ${n}}\n` }),
      ...shownAt('values'),
    },
    {
      what: 'other content of a parameter file',
      status: 200,
      setUp: setUp('other-values'),
      prepare: (n) => save('other-values', n, 'old'),
      send: (n) =>
        admin.put(path('other-values'), { version: version(n), content: 'parameters: {a: new}\n' }),
      ...shownAt('other-values'),
    },
    {
      what: 'publishing a parameter file',
      status: 200,
      setUp: setUp('published-values'),
      prepare: (n) => save('published-values', n, `${n}`),
      send: (n) => admin.put(`${path('published-values')}/versions/${version(n)}/publish`),
      ...shownAt('published-values'),
    },
    {
      what: 'the end of a parameter file',
      status: 204,
      setUp: setUp('ended-values'),
      prepare: (n) => save('ended-values', n, `${n}`),
      send: (n) => admin.delete(`${path('ended-values')}/versions/${version(n)}`),
      ...shownAt('ended-values'),
    },
    {
      what: 'a schema of parameters',
      status: 200,
      setUp: setUp('schemas'),
      send: (n) => uploadSchema(admin, 'schemas', version(n), { text: { type: 'string', defaultValue: '' } }),
      shownAt: [`${CONFIGURATIONS}/schemas/parameters`],
    },
  ];
}
