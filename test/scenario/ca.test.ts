// full: SQLite
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const PATH = '/api/v1/ca.pem';

describe('the certificate of the built-in authority', () => {
  const hawser = started(startHawser);

  it('is there for anyone, and is the one behind what the authority issues', async () => {
    const reply = await hawser.client().get(PATH);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/x-pem-file');
    const certificate = new X509Certificate(reply.text);
    expect(certificate.ca).to.equal(true);
    expect(certificate.fingerprint256).to.equal(new X509Certificate(hawser.target().ca).fingerprint256);
    expect(reply.text).to.not.include('PRIVATE KEY');
  });

  it('is not there where another authority stands behind the nodes', async () => {
    const file = join(hawser.folder, 'nodes-ca.crt');
    writeFileSync(file, hawser.target().ca);
    const other = await startHawser({ HAWSER_NODE_CA: file });
    try {
      await expectProblem(other.client().get(PATH), 404, 'not_found');
    } finally {
      await other.close();
    }
  });
});
