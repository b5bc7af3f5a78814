import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  DatabaseUrlFault,
  describeDatabaseUrl,
  isRemote,
  parseDatabaseUrl,
} from '../../../src/lib/database-url.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const SECRET = 'Zzyzx';

describe('the URL of PostgreSQL', () => {
  const folder = temporaryFolder();

  it('gives its parts, without escapes', () => {
    const authority = folder('ca.pem');
    writeFileSync(authority, 'PEM');
    const text = `postgresql://ha%40wser:p%2Fq%23r%3F@db.example.org:6432/ha%20wser?sslmode=verify-full&sslrootcert=${authority}&connect_timeout=3&application_name=site`;
    expect(parseDatabaseUrl(text)).to.deep.equal({
      ...{ host: 'db.example.org', port: 6432, database: 'ha wser', user: 'ha@wser', password: 'p/q#r?' },
      ...{ sslMode: 'verify-full', sslRootCert: authority, applicationName: 'site', connectTimeout: 3_000 },
    });
  });

  it('has defaults, and needs no password', () => {
    expect(parseDatabaseUrl('postgres://hawser@localhost/hawser')).to.deep.equal({
      ...{ host: 'localhost', port: 5432, database: 'hawser', user: 'hawser', password: null },
      ...{ sslMode: 'disable', sslRootCert: null, applicationName: 'hawser', connectTimeout: 2_000 },
    });
  });

  it('takes an IPv6 address, and the folder of a socket', () => {
    expect(parseDatabaseUrl('postgres://hawser@[::1]:5433/hawser')).to.include({ host: '::1', port: 5433 });
    const socket = parseDatabaseUrl('postgres://hawser@%2Frun%2Fpostgresql/hawser');
    expect(socket.host).to.equal('/run/postgresql');
  });

  const faults: [text: string, fault: RegExp][] = [
    [SECRET, /not a URL/],
    [`postgres://hawser:${SECRET}/9@db/hawser`, /not a URL/],
    [`https://hawser:${SECRET}@db/hawser`, /not the URL of a PostgreSQL database/],
    [`postgres://hawser:${SECRET}%@db/hawser`, /a % that begins no escape/],
    [`postgres://:${SECRET}@db/hawser`, /names no user/],
    [`postgres://hawser:${SECRET}@db`, /names no database/],
    [`postgres://hawser:${SECRET}@db/`, /names no database/],
    ['postgres:///hawser', /names no host/],
    [`postgres://hawser:${SECRET}@one,two/hawser`, /more than one host/],
    [`postgres://hawser:${SECRET}@db/hawser#${SECRET}`, /has a #/],
    [`postgres://hawser:${SECRET}@db/hawser?sslmod=require`, /parameter "sslmod" that is not known/],
    [`postgres://hawser:1?${SECRET}@db/hawser@db/hawser`, /names no/],
    [`postgres://hawser:${SECRET}@db/hawser?sslmode=prefer`, /sslmode that is none of disable, require/],
    [`postgres://hawser:${SECRET}@db/hawser?sslmode=verify-ca`, /without sslrootcert/],
    [`postgres://hawser:${SECRET}@db/hawser?sslrootcert=/dev/null`, /no sslmode that uses it/],
    [`postgres://hawser:${SECRET}@db/hawser?sslmode=require&sslrootcert=ca.pem`, /no absolute path/],
    [`postgres://hawser:${SECRET}@db/hawser?sslmode=require&sslrootcert=/no/such`, /cannot be read/],
    [`postgres://hawser:${SECRET}@db/hawser?connect_timeout=0`, /connect_timeout/],
  ];
  for (const [text, fault] of faults) {
    it(`is refused as ${text}, and its password is not repeated`, () => {
      expect(() => parseDatabaseUrl(text))
        .to.throw(DatabaseUrlFault)
        .with.property('message')
        .that.matches(fault)
        .and.does.not.include(SECRET);
    });
  }

  it('is told without its password', () => {
    const told = (text: string) => describeDatabaseUrl(parseDatabaseUrl(text));
    expect(told(`postgres://me:${SECRET}@[::1]/hawser`)).to.equal(
      'database hawser of PostgreSQL at [::1]:5432 as user me',
    );
    expect(told('postgres://me@%2Frun%2Fpostgresql/hawser')).to.include('at /run/postgresql:5432');
  });

  it('leads to another machine unless the host is this one', () => {
    const hosts = { 'db.example.org': true, '10.0.0.1': true, localhost: false, '127.0.0.1': false };
    for (const [host, expected] of Object.entries({ ...hosts, '[::1]': false, '%2Frun': false }))
      expect(isRemote(parseDatabaseUrl(`postgres://u@${host}/d`)), host).to.equal(expected);
  });
});
