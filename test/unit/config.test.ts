import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { ConfigError, readConfig } from '../../src/config.ts';
import { temporaryFolder } from '../support/temporary.ts';

const POSTGRES = 'postgres://hawser:secret@db.example.org/hawser';

describe('reading the settings', () => {
  const folder = temporaryFolder();

  it('gives what the design says where nothing is set', () => {
    const config = readConfig({});
    expect(config).to.deep.include({
      ...{ host: '0.0.0.0', port: 8443, environment: 'production', databaseUrl: null },
      ...{ dataDir: resolve('data'), reposDir: resolve('repos'), nodeCaFile: null, nodeCrlFile: null },
      secretsKeyFile: null,
      ...{ adminPassword: null, metricsToken: null, logLevel: 'info' },
      ...{ cacheBytes: 256 * 1024 ** 2, auditKeepDays: null },
    });
    expect(config.tls).to.include({ isOn: true, certFile: null, keyFile: null });
    expect(config.proxies).to.deep.equal({ trusted: [], certificateHeader: 'Client-Cert' });
    expect(config.ui).to.deep.equal({ isOn: true, port: null });
    expect(config.tls.names).to.include.members(['localhost', '127.0.0.1', '::1']);
    expect(config.limits).to.deep.equal({
      ...{ uploadBytes: 50 * 1024 ** 2, uploadFiles: 2_000 },
      reportBytes: 5 * 1024 ** 2,
    });
    expect(config.push).to.deep.equal({ isOn: true, packBytes: 100 * 1024 ** 2 });
    expect(config).to.be.frozen;
  });

  it('takes an empty value for one that is not set, and leaves the names of others alone', () => {
    expect(readConfig({ HAWSER_PORT: '', HAWSER_ADMIN_PASSWORD: '' })).to.deep.equal(readConfig({}));
    const others = { PATH: '/bin', HAWSERS: 'x', hawser_port: '1', MY_HAWSER_PORT: '1' };
    expect(readConfig(others).port).to.equal(8443);
  });

  it('reads sizes with and without a unit', () => {
    const sizes: [string, number][] = [
      ['1', 1],
      ['512B', 512],
      ['64KiB', 65_536],
      ['10mib', 10 * 1024 ** 2],
      ['2GiB', 2 * 1024 ** 3],
    ];
    for (const [text, bytes] of sizes) {
      expect(readConfig({ HAWSER_REPORT_LIMIT: text }).limits.reportBytes, text).to.equal(bytes);
    }
  });

  it('takes what it is told of pushes', () => {
    const { push } = readConfig({ HAWSER_PUSH: 'Off', HAWSER_PUSH_LIMIT: '1GiB' });
    expect(push).to.deep.equal({ isOn: false, packBytes: 1024 ** 3 });
  });

  it('takes what it is told of sign-in', () => {
    const { publicUrl, oidcFile, federationIssuers } = readConfig({
      HAWSER_PUBLIC_URL: 'https://hawser.example.org:8443/',
      HAWSER_OIDC_FILE: '/etc/hawser/oidc.json',
      HAWSER_FEDERATION_ISSUERS: 'https://a.example.org, https://b.example.org/x',
    });
    expect(publicUrl).to.equal('https://hawser.example.org:8443');
    expect(oidcFile).to.equal('/etc/hawser/oidc.json');
    expect(federationIssuers).to.deep.equal(['https://a.example.org', 'https://b.example.org/x']);
    const development = { HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: 'http://localhost:8080' };
    expect(readConfig(development).publicUrl).to.equal('http://localhost:8080');
  });

  it('listens on loopback alone without TLS, and takes the proxies that it is given', () => {
    const { host, tls, proxies } = readConfig({
      HAWSER_TLS: 'OFF',
      HAWSER_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1',
      HAWSER_CLIENT_CERT_HEADER: 'X-SSL-Client-Cert',
    });
    expect([host, tls.isOn]).to.deep.equal(['127.0.0.1', false]);
    expect(proxies).to.deep.equal({
      trusted: ['127.0.0.1', '10.0.0.0/8', '::1'],
      certificateHeader: 'X-SSL-Client-Cert',
    });
    expect(readConfig({ HAWSER_TLS: 'off', HAWSER_HOST: 'localhost' }).host).to.equal('localhost');
  });

  it('limits the bytes of all reports where it is told to', () => {
    expect(readConfig({}).maxReportBytes).to.equal(null);
    expect(readConfig({ HAWSER_REPORT_BYTES: '20GiB' }).maxReportBytes).to.equal(20 * 1024 ** 3);
  });

  it('reads whole days', () => {
    expect(readConfig({ HAWSER_AUDIT_KEEP_DAYS: '1' }).auditKeepDays).to.equal(1);
    expect(readConfig({ HAWSER_AUDIT_KEEP_DAYS: '36500' }).auditKeepDays).to.equal(36_500);
  });

  it('takes settings of earlier releases, whatever they say, and names what holds now', () => {
    const gone = ['JSON_LIMIT', 'NODE_CALLS', 'SCRYPT_COST', 'SLOW_MS', 'TESTING', 'WEBHOOK_CA'];
    const names = gone.map((name) => `HAWSER_${name}`);
    const env = { HAWSER_WORKERS: '1', ...Object.fromEntries(names.map((name) => [name, 'of no use'])) };
    const { retired, ...others } = readConfig(env);
    expect(retired.map(({ setting }) => setting)).to.have.members(Object.keys(env));
    for (const { now } of retired) expect(now).to.match(/^[a-z]/);
    expect(() => readConfig({ HAWSER_TEST: 'on' }))
      .to.throw(/HAWSER_PORT/)
      .with.property('message')
      .that.does.not.include('HAWSER_TESTING');
    expect({ ...others, retired: [] }).to.deep.equal(readConfig({ HAWSER_WORKERS: '', HAWSER_TESTING: '' }));
  });

  it('reads choices in any case', () => {
    const config = readConfig({ HAWSER_ENV: 'Development', HAWSER_LOG_LEVEL: 'WARN' });
    expect(config).to.include({ environment: 'development', logLevel: 'warn' });
  });

  it('reads a secret from the first line of a file', () => {
    const file = folder('password');
    writeFileSync(file, ' with blanks and ümlaut \r\nsecond line\n');
    const config = readConfig({ HAWSER_ADMIN_PASSWORD_FILE: file });
    expect(config.adminPassword).to.equal(' with blanks and ümlaut ');
    writeFileSync(file, `${POSTGRES}\n`);
    expect(readConfig({ HAWSER_DATABASE_URL_FILE: file }).databaseUrl).to.equal(POSTGRES);
    writeFileSync(file, '');
    const { adminPassword } = readConfig({ HAWSER_ADMIN_PASSWORD_FILE: file });
    expect(adminPassword, 'for the start to refuse').to.equal('');
  });

  const faults: [variable: string, env: Record<string, string>, allowed: RegExp][] = [
    ['HAWSER_PORT', { HAWSER_PORT: '65536' }, /0 to 65535/],
    ['HAWSER_PORT', { HAWSER_PORT: '-1' }, /0 to 65535/],
    ['HAWSER_PORT', { HAWSER_PORT: '8443x' }, /0 to 65535/],
    ['HAWSER_PORT', { HAWSER_PORT: '0x10' }, /0 to 65535/],
    ['HAWSER_PORT', { HAWSER_PORT: ' 8443' }, /0 to 65535/],
    ['HAWSER_ENV', { HAWSER_ENV: 'test' }, /production, development/],
    ['HAWSER_LOG_LEVEL', { HAWSER_LOG_LEVEL: 'verbose' }, /info/],
    ['HAWSER_REPORT_LIMIT', { HAWSER_REPORT_LIMIT: '0' }, /50MiB/],
    ['HAWSER_REPORT_LIMIT', { HAWSER_REPORT_LIMIT: '1MB' }, /50MiB/],
    ['HAWSER_REPORT_LIMIT', { HAWSER_REPORT_LIMIT: '-5' }, /50MiB/],
    ['HAWSER_UPLOAD_LIMIT', { HAWSER_UPLOAD_LIMIT: '999999999999GiB' }, /50MiB/],
    ['HAWSER_UPLOAD_FILES', { HAWSER_UPLOAD_FILES: '0' }, /1 to/],
    ['HAWSER_PUSH', { HAWSER_PUSH: 'yes' }, /on, off/],
    ['HAWSER_PUSH_LIMIT', { HAWSER_PUSH_LIMIT: '0' }, /50MiB/],
    ['HAWSER_PUSH_LIMIT', { HAWSER_PUSH_LIMIT: '100MB' }, /50MiB/],
    ['HAWSER_PUBLIC_URL', { HAWSER_PUBLIC_URL: 'http://localhost:8080' }, /https/],
    ['HAWSER_PUBLIC_URL', { HAWSER_PUBLIC_URL: 'https://hawser.example.org/path' }, /https/],
    ['HAWSER_PUBLIC_URL', { HAWSER_PUBLIC_URL: 'https://me@hawser.example.org' }, /https/],
    ['HAWSER_PUBLIC_URL', { HAWSER_PUBLIC_URL: 'hawser.example.org' }, /https/],
    ['HAWSER_PUBLIC_URL', { HAWSER_OIDC_FILE: 'oidc.json' }, /this server/],
    ['HAWSER_PUBLIC_URL', { HAWSER_FEDERATION_ISSUERS: 'https://a.example.org' }, /this server/],
    ['HAWSER_FEDERATION_ISSUERS', { HAWSER_FEDERATION_ISSUERS: 'http://a.example.org' }, /https/],
    ['HAWSER_FEDERATION_ISSUERS', { HAWSER_FEDERATION_ISSUERS: 'https://a.example.org,' }, /https/],
    ['HAWSER_CACHE_BYTES', { HAWSER_CACHE_BYTES: 'much' }, /50MiB/],
    ['HAWSER_REPORT_BYTES', { HAWSER_REPORT_BYTES: '20G' }, /GiB/],
    // The unit was forgotten.
    ['HAWSER_REPORT_BYTES', { HAWSER_REPORT_BYTES: '20' }, /20GiB/],
    ['HAWSER_AUDIT_KEEP_DAYS', { HAWSER_AUDIT_KEEP_DAYS: '0' }, /1 to 36500/],
    ['HAWSER_AUDIT_KEEP_DAYS', { HAWSER_AUDIT_KEEP_DAYS: '36501' }, /1 to 36500/],
    ['HAWSER_AUDIT_KEEP_DAYS', { HAWSER_AUDIT_KEEP_DAYS: '0.5' }, /1 to 36500/],
    ['HAWSER_AUDIT_KEEP_DAYS', { HAWSER_AUDIT_KEEP_DAYS: 'never' }, /1 to 36500/],
    ['HAWSER_TLS_NAMES', { HAWSER_TLS_NAMES: 'a.example.org,,b' }, /host names/],
    ['HAWSER_TLS_NAMES', { HAWSER_TLS_NAMES: 'a/b' }, /host names/],
    ['HAWSER_TLS_KEY', { HAWSER_TLS_CERT: '/x' }, /both or neither/],
    ['HAWSER_TLS_CERT', { HAWSER_TLS_KEY: '/x' }, /both or neither/],
    ['HAWSER_NODE_CA', { HAWSER_NODE_CRL: '/x' }, /PEM/],
    ['HAWSER_TLS', { HAWSER_TLS: 'no' }, /on, off/],
    ['HAWSER_UI', { HAWSER_UI: '1' }, /on, off/],
    ['HAWSER_UI_PORT', { HAWSER_UI_PORT: '65536' }, /0 to 65535/],
    ['HAWSER_UI_PORT', { HAWSER_UI: 'off', HAWSER_UI_PORT: '8444' }, /one of the two/],
    ['HAWSER_UI_PORT', { HAWSER_UI_PORT: '8443' }, /another port/],
    ['HAWSER_TLS_CERT', { HAWSER_TLS: 'off', HAWSER_TLS_CERT: '/x', HAWSER_TLS_KEY: '/x' }, /one of the two/],
    ['HAWSER_HOST', { HAWSER_TLS: 'off', HAWSER_HOST: '0.0.0.0' }, /loopback/],
    ['HAWSER_HOST', { HAWSER_TLS: 'off', HAWSER_HOST: '::' }, /loopback/],
    ['HAWSER_TRUSTED_PROXIES', { HAWSER_TRUSTED_PROXIES: 'proxy.example.org' }, /CIDR/],
    ['HAWSER_TRUSTED_PROXIES', { HAWSER_TRUSTED_PROXIES: '10.0.0.1,' }, /CIDR/],
    ['HAWSER_TRUSTED_PROXIES', { HAWSER_TRUSTED_PROXIES: '0.0.0.0/0' }, /CIDR/],
    ['HAWSER_CLIENT_CERT_HEADER', { HAWSER_CLIENT_CERT_HEADER: 'X-Cert' }, /HAWSER_TRUSTED_PROXIES/],
    [
      'HAWSER_CLIENT_CERT_HEADER',
      { HAWSER_TRUSTED_PROXIES: '::1', HAWSER_CLIENT_CERT_HEADER: 'X_Cert' },
      /hyphens/,
    ],
    ['HAWSER_ADMIN_PASSWORD_FILE', { HAWSER_ADMIN_PASSWORD_FILE: '/nowhere/at/all' }, /readable file/],
    ['HAWSER_ADMIN_PASSWORD', { HAWSER_ADMIN_PASSWORD: 'x', HAWSER_ADMIN_PASSWORD_FILE: '/x' }, /one of/],
    ['HAWSER_METRICS_TOKEN', { HAWSER_METRICS_TOKEN: 'fifteen-letters' }, /16 to 512/],
    ['HAWSER_METRICS_TOKEN', { HAWSER_METRICS_TOKEN: 'a blank in between them' }, /without blanks/],
    ['HAWSER_METRICS_TOKEN', { HAWSER_METRICS_TOKEN_FILE: '/dev/null' }, /16 to 512/],
    ['HAWSER_DATABASE_URL', { HAWSER_DATABASE_URL: 'mysql://hawser:secret@db/hawser' }, /postgres:\/\//],
    ['HAWSER_DATABASE_URL', { HAWSER_DATABASE_URL_FILE: '/dev/null' }, /postgres:\/\//],
    ['HAWSER_DATABASE_URL', { HAWSER_DATABASE_URL: 'x', HAWSER_DATABASE_URL_FILE: '/x' }, /one of/],
    ['HAWSER_ADMIN_PASWORD', { HAWSER_ADMIN_PASWORD: 'secret' }, /HAWSER_ADMIN_PASSWORD/],
    ['HAWSER_', { HAWSER_: '1' }, /HAWSER_PORT/],
    ['HAWSER_WORKERS', { HAWSER_WORKERS: '2' }, /n servers on one PostgreSQL .*docs\/operating.md/],
  ];
  for (const [variable, env, allowed] of faults) {
    it(`refuses ${JSON.stringify(env)}, naming the variable and what is allowed`, () => {
      expect(() => readConfig(env))
        .to.throw(ConfigError)
        .with.property('message')
        .that.satisfies((message: string) => message.startsWith(`${variable}: `) && !message.includes('\n'))
        .and.matches(/; allowed: /)
        .and.matches(allowed);
    });
  }

  it('never repeats a value, which may be a secret', () => {
    expect(() => readConfig({ HAWSER_ADMIN_PASWORD: 'my-secret' }))
      .to.throw()
      .with.property('message')
      .that.does.not.include('my-secret');
  });
});
