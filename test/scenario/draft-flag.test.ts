// full: SQLite
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import {
  COMPOSITES,
  compositeVersionOf,
  compositeVersionsOf,
  createComposite,
} from '../support/composites.ts';
import { CONFIGURATIONS, create, MAIN, versionsOf } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const CONTENT = 'parameters: {}\n';

/** An upload, and how to ask afterwards what became of it. */
interface Upload {
  send(isDraft: unknown, version: string): Promise<Reply>;
  /** The status of the version, or null where there is none. */
  find(version: string): Promise<string | null>;
  /** What publishes, as the refusal names it. */
  publish: string;
}

describe('isDraft of an upload', () => {
  const hawser = started(startHawser);
  let parameters: string;

  before(async () => {
    await ok(201, create(hawser.admin, 'web'));
    await ok(201, createComposite(hawser.admin, 'farm'));
    parameters = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
  });

  const statusIn = async (path: string, version: string): Promise<string | null> => {
    const versions: { version: string; status: string }[] = await ok(200, hawser.admin.get(path));
    return versions.find((each) => each.version === version)?.status ?? null;
  };
  const fields = (isDraft: unknown, more: Record<string, string>) => ({
    ...more,
    ...(isDraft === undefined ? {} : { isDraft: String(isDraft) }),
  });
  const ofVersions = (path: string, publish: string) => ({
    find: (version: string) => statusIn(path, version),
    publish: `PUT ${publish}/versions/{version}/publish`,
  });
  const PUBLISH_CONFIGURATION = '/api/v1/configurations/{name}';

  const UPLOADS: Record<string, () => Upload> = {
    'POST of a configuration': () => ({
      send: (isDraft, version) =>
        hawser.admin.upload(CONFIGURATIONS, {
          fields: fields(isDraft, { name: `new-${version}`, version }),
          files: FILES,
        }),
      find: async (version) =>
        (await hawser.admin.get(`${CONFIGURATIONS}/new-${version}`)).status === 404
          ? null
          : statusIn(versionsOf(`new-${version}`), version),
      publish: `PUT ${PUBLISH_CONFIGURATION}/versions/{version}/publish`,
    }),
    'POST of a version': () => ({
      send: (isDraft, version) =>
        hawser.admin.upload(versionsOf('web'), { fields: fields(isDraft, { version }), files: FILES }),
      ...ofVersions(versionsOf('web'), PUBLISH_CONFIGURATION),
    }),
    'POST of a composite version': () => ({
      send: (isDraft, version) => hawser.admin.post(compositeVersionsOf('farm'), { version, isDraft }),
      ...ofVersions(compositeVersionsOf('farm'), '/api/v1/composite-configurations/{name}'),
    }),
    'PUT of a parameter file': () => ({
      send: (isDraft, version) => hawser.admin.put(parameters, { version, content: CONTENT, isDraft }),
      ...ofVersions(`${parameters}/versions`, '/api/v1/parameters/{scopeTypeId}/{configurationId}'),
    }),
    'POST of a parameter file': () => ({
      send: (isDraft, version) =>
        hawser.admin.upload(`${CONFIGURATIONS}/web/parameters/parameter-files`, {
          fields: fields(isDraft, { scopeTypeName: 'Default', version }),
          part: { name: 'parametersFile', filename: 'p.yaml', content: CONTENT },
        }),
      ...ofVersions(`${parameters}/versions`, '/api/v1/parameters/{scopeTypeId}/{configurationId}'),
    }),
  };

  let serial = 1;
  for (const [name, upload] of Object.entries(UPLOADS)) {
    const isForm = name.startsWith('POST') && !name.includes('composite');

    it(`may be true in ${name}, and changes nothing`, async () => {
      for (const isDraft of isForm ? [true, 'True', undefined, ''] : [true, undefined, null]) {
        serial += 1;
        const version = `1.0.${serial}`;
        const reply = await upload().send(isDraft, version);
        expect(reply.status, reply.text).to.equal(201);
        expect(reply.json).to.not.have.property('isDraft');
        expect(await upload().find(version)).to.equal('Draft');
      }
    });

    it(`is refused as false in ${name}, which names the route that publishes and makes nothing`, async () => {
      serial += 1;
      const version = `1.0.${serial}`;
      for (const isDraft of isForm ? [false, 'FALSE'] : [false]) {
        const reply = await upload().send(isDraft, version);
        await expectProblem(reply, 400, 'publish_separately');
        expect(reply.json.detail).to.include(upload().publish);
        expect(reply.json.errors[0].path).to.equal('/isDraft');
      }
      expect(await upload().find(version)).to.equal(null);
    });

    it(`is a flag in ${name}`, async () => {
      const reply = await upload().send('perhaps', '1.9.0');
      await expectProblem(reply, 400, 'validation_failed');
      expect(reply.json.errors[0].path).to.equal('/isDraft');
      expect(await upload().find('1.9.0')).to.equal(null);
    });
  }

  it('may be true where the files of a draft are replaced', async () => {
    const path = `${versionsOf('web')}/1.0.0`;
    const put = (isDraft: string) =>
      hawser.admin.call('PUT', path, {
        form: { fields: { isDraft }, files: { [MAIN]: '$schema: x\nresources: [] # 2\n' } },
      });
    await expectProblem(put('false'), 400, 'publish_separately');
    expect(await ok(200, put('true'))).to.include({ version: '1.0.0', status: 'Draft' });
  });

  it('is published by the route that is named', async () => {
    await ok(201, hawser.admin.post(compositeVersionsOf('farm'), { version: '2.0.0', isDraft: true }));
    const child = { childConfigurationName: 'web' };
    await ok(201, hawser.admin.post(`${compositeVersionOf('farm', '2.0.0')}/children`, child));
    await ok(200, hawser.admin.put(`${versionsOf('web')}/1.0.0/publish`));
    await ok(200, hawser.admin.put(`${compositeVersionOf('farm', '2.0.0')}/publish`));
    expect(await ok(200, hawser.admin.get(`${COMPOSITES}/farm`))).to.include({
      latestPublishedVersion: '2.0.0',
    });
  });
});
