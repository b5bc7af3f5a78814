import { expect } from 'chai';
import { DatabaseAway, internal } from '../../../src/lib/errors.ts';
import { createLog, type LogLevel } from '../../../src/lib/log.ts';
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

  it('are at debug if they come from a database that is away', () => {
    const levelsOf = (level: LogLevel) => {
      const lines: string[] = [];
      const log = createLog(level, { write: (line) => lines.push(line) }).child({ worker: 1 });
      const away = new DatabaseAway(new Error('refused'));
      log.error({ err: away, check: 'database' }, 'failed');
      log.warn({ err: internal('internal_error', 'It went wrong', away) }, 'failed');
      log.error({ err: new Error('another fault') }, 'failed');
      return lines.map((line) => JSON.parse(line).level);
    };
    expect(levelsOf('debug')).to.deep.equal(['debug', 'debug', 'error']);
    expect(levelsOf('info')).to.deep.equal(['error']);
  });

  it('may be anything that was thrown', () => {
    expect(logged('a text').err).to.equal('a text');
  });
});
