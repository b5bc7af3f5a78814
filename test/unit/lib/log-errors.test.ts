import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLog } from '../../../src/lib/log.ts';

describe('errors in the log', () => {
  const logged = (error: unknown) => {
    let text = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    });
    createLog('info', sink).error({ err: error }, 'failed');
    return JSON.parse(text);
  };

  it('have what helps, and not the row that PostgreSQL quotes', () => {
    const quoted = { code: '23514', detail: 'Failing row contains (admin, c2NyeXB0AA).' };
    const { err } = logged(Object.assign(new Error('new row violates a check'), quoted));
    expect(err).to.include({ type: 'Error', message: 'new row violates a check', code: '23514' });
    expect(err.stack).to.be.a('string');
    expect(JSON.stringify(err)).not.to.include('c2NyeXB0AA');
  });

  it('may be anything that was thrown', () => {
    expect(logged('a text').err).to.equal('a text');
  });
});
