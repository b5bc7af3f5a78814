/** The parameter files of `shop`: two majors, several scopes that override each other, and drafts. */

export interface SeedParameters {
  scope: 'Default' | 'Region' | 'Environment' | 'Node';
  value?: string;
  version: string;
  /** Null skips the scope on purpose. */
  content: string | null;
  isDraft?: boolean;
}

/** The node that has a parameter file of its own. */
export const NODE_WITH_FILE = 'web-001.eu.example.org';

/** Text that would be a program if anything took it for markup. */
export const HOSTILE = '<img src=x onerror=alert(1)>';

export const SHOP_PARAMETERS: readonly SeedParameters[] = [
  {
    ...{ scope: 'Default', version: '1.0.0' },
    content: 'parameters:\n  port: 80\n  environment: test\n  adminPassword: correct horse battery staple\n',
  },
  {
    ...{ scope: 'Default', version: '1.1.0' },
    content:
      'parameters:\n  port: 80\n  environment: test\n  workers: 3\n  adminPassword: correct horse battery staple\n',
  },
  {
    ...{ scope: 'Default', version: '2.0.0' },
    content: `parameters:
  port: 443
  environment: test
  workers: 4
  compression: gzip
  logLevel: info
  tls:
    minVersion: "1.2"
    ciphers: [TLS_AES_128_GCM_SHA256, TLS_CHACHA20_POLY1305_SHA256]
  motd: |
    This machine is managed by Hawser.
    Changes by hand are taken back.
  adminPassword: correct horse battery staple
`,
  },
  {
    ...{ scope: 'Default', version: '2.1.0', isDraft: true },
    content: `parameters:
  port: 443
  environment: test
  workers: 6
  compression: brotli
  logLevel: info
  rateLimit: 250
  tls:
    minVersion: "1.3"
    ciphers: [TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256]
  motd: |
    This machine is managed by Hawser.
    Changes by hand are taken back.
  adminPassword: another correct horse battery
`,
  },
  { ...{ scope: 'Region', value: 'eu', version: '1.0.0' }, content: 'parameters:\n  port: 8080\n' },
  {
    ...{ scope: 'Region', value: 'eu', version: '2.0.0' },
    content: '# Frankfurt and Dublin\nparameters:\n  certificate: eu.pem\n  tls:\n    ocsp: true\n',
  },
  {
    ...{ scope: 'Region', value: 'us', version: '2.0.0' },
    content: '{"parameters": {"certificate": "us.pem", "logLevel": "warning"}}\n',
  },
  // Without a certificate, the nodes of this region have a problem.
  { ...{ scope: 'Region', value: 'asia', version: '2.0.0' }, content: null },
  {
    ...{ scope: 'Environment', value: 'prod', version: '1.0.0' },
    content: 'parameters:\n  environment: prod\n  workers: 8\n',
  },
  {
    ...{ scope: 'Environment', value: 'prod', version: '2.0.0' },
    content: 'parameters:\n  environment: prod\n  workers: 16\n  logLevel: error\n',
  },
  {
    ...{ scope: 'Environment', value: 'prod', version: '2.0.1', isDraft: true },
    content: 'parameters:\n  environment: prod\n  workers: 24\n  logLevel: error\n',
  },
  {
    ...{ scope: 'Environment', value: 'test', version: '2.0.0' },
    content: 'parameters:\n  environment: test\n  logLevel: debug\n',
  },
  {
    ...{ scope: 'Node', value: NODE_WITH_FILE, version: '2.0.0' },
    content: `parameters:\n  port: 8443\n  motd: ${JSON.stringify(HOSTILE)}\n`,
  },
];

/** The parameter files of `database`, whose nodes get no number of replicas outside production. */
export const DATABASE_PARAMETERS: readonly SeedParameters[] = [
  { ...{ scope: 'Default', version: '1.0.0' }, content: 'parameters:\n  memory: 2GB\n' },
  {
    ...{ scope: 'Environment', value: 'prod', version: '2.0.0' },
    content: 'parameters:\n  memory: 16GB\n  replicas: 2\n',
  },
];
