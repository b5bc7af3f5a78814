import { expect } from 'chai';
import { createLog } from '../../../src/lib/log.ts';
import { failureOf } from '../../support/failures.ts';
import { querySharedCluster } from '../../support/postgres.ts';

describe('errors in the log', () => {
  const logged = (error: unknown) => {
    const lines: string[] = [];
    createLog('info', { write: (line) => lines.push(line) }).error({ err: error }, 'failed');
    return JSON.parse(lines.join(''));
  };

  const thrownBy = (statement: string) => failureOf(querySharedCluster(statement));

  it('have what helps, and not the row that PostgreSQL quotes', async () => {
    const error = await thrownBy(
      "create temporary table t (name text check (name = '')); insert into t values ('c2NyeXB0AA')",
    );
    expect(error).to.have.property('detail').that.includes('c2NyeXB0AA');
    const { err } = logged(error);
    expect(err).to.include({ type: 'DatabaseError', code: '23514' });
    expect(err.message).to.include('violates check constraint');
    expect(err.stack).to.be.a('string');
    expect(JSON.stringify(err)).not.to.include('c2NyeXB0AA');
  });

  it('have no statement that a function of PostgreSQL was at', async () => {
    const error = await thrownBy("do $$ begin execute 'select c2NyeXB0AA()'; end $$");
    expect(error).to.have.property('where').that.includes('EXECUTE');
    expect(error).to.have.property('internalQuery').that.includes('c2NyeXB0AA');
    const { err } = logged(error);
    expect(err).to.include({ code: '42883' });
    expect(err).not.to.have.any.keys('where', 'internalQuery');
  });

  it('may be anything that was thrown', () => {
    expect(logged('a text').err).to.equal('a text');
  });
});
