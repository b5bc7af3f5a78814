// full: SQLite
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { DOCUMENT_FILE } from '../support/contract.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';

const PATH = '/openapi/v1.json';

describe('/openapi/v1.json', () => {
  let hawser: Hawser;
  afterEach(() => hawser.close());

  it('is handed out to anybody in development, with a validator', async () => {
    hawser = await startHawser({ HAWSER_ENV: 'development' });
    const reply = await hawser.client().get(PATH);
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(reply.json.openapi).to.equal('3.1.0');
    const known = { 'If-None-Match': String(reply.headers['etag']) };
    expect((await hawser.client().get(PATH, known)).status).to.equal(304);
  });

  it('is the document that is kept under docs', async () => {
    hawser = await startHawser({ HAWSER_ENV: 'development' });
    const document = (await hawser.client().get(PATH)).json;
    // As one truth: the difference of two such documents would fill the screen.
    const isKept = isDeepStrictEqual(document, JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8')));
    expect(isKept).to.equal(true);
  });

  for (const [name, settings] of [
    ['in production', { HAWSER_ENV: 'production' }],
    ['without HAWSER_ENV', {}],
  ] as const) {
    it(`is not there ${name}`, async () => {
      hawser = await startHawser(settings);
      await expectProblem(hawser.client().get(PATH), 404, 'not_found');
      expect((await hawser.admin.get(PATH)).status).to.equal(404);
    });
  }
});
