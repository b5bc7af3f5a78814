import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { PROJECT } from '../../scripts/support/project.ts';
import { readConfig } from '../../src/config.ts';
import { describeWith } from '../support/optional-tools.ts';
import { PROXY_PATH } from '../support/proxy-program.ts';
import { temporaryFolder } from '../support/temporary.ts';

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

const COMPOSE = 'scripts/compose/compose.yaml';
const KUBERNETES = 'scripts/kubernetes/hawser.yaml';
const CONTAINER = read('scripts/container/Containerfile');
const EXPOSED = Number(/^EXPOSE (\d+)$/m.exec(CONTAINER)?.[1]);
const USER = Number(/^USER (\d+):/m.exec(CONTAINER)?.[1]);
const VOLUMES: string[] = JSON.parse(/^VOLUME (.*)$/m.exec(CONTAINER)?.[1] ?? '[]');

/** What a file in YAML holds. */
// biome-ignore lint/suspicious/noExplicitAny: as free as YAML is
type Yaml = any;

/** The texts of a file in the clear must not hold the password of a URL. */
const PASSWORD_IN_URL = /\/\/[^\s/@:]+:[^\s@$]+@/;

describe('the files for several servers', () => {
  const folder = temporaryFolder();

  /** Reads the settings as the program does, which throws for an unknown name or a bad value. */
  function settingsOf(env: Record<string, string>): ReturnType<typeof readConfig> {
    for (const name of ['HAWSER_DATABASE_URL_FILE', 'HAWSER_SECRETS_KEY_FILE'])
      expect(env)
        .to.have.property(name)
        .that.matches(/^\/run\/secrets\//);
    const urlFile = folder('url');
    writeFileSync(urlFile, 'postgres://hawser@db.example.org/hawser\n');
    return readConfig({ ...env, HAWSER_DATABASE_URL_FILE: urlFile });
  }

  for (const path of [COMPOSE, KUBERNETES])
    it(`${path} holds no secret, and no key twice`, () => {
      const text = read(path);
      expect(text).not.to.match(PASSWORD_IN_URL);
      for (const document of parseAllDocuments(text, { merge: true, uniqueKeys: true }))
        expect([...document.errors, ...document.warnings]).to.deep.equal([]);
      expect(text).not.to.match(/^kind: Secret$/m);
      expect(text).not.to.match(/PASSWORD: /);
    });

  describe('for Compose', () => {
    const compose: Yaml = parse(read(COMPOSE), { merge: true });
    const services: [string, Yaml][] = Object.entries(compose.services);
    const servers = services.filter(([name]) => name.startsWith('hawser-'));
    const haproxy = read('scripts/compose/haproxy.cfg');

    it('give each server settings that the program takes, on the port of the image', () => {
      expect(servers.map(([name]) => name)).to.deep.equal(['hawser-1', 'hawser-2']);
      for (const [, { environment }] of servers) {
        const { port, databaseUrl } = settingsOf(environment);
        expect(port).to.equal(EXPOSED);
        expect(databaseUrl).to.be.a('string');
      }
    });

    it('let each server do little, and keep nothing of it', () => {
      for (const [name, server] of servers) {
        expect(server, name).to.deep.include({
          ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], hostname: name },
          depends_on: { postgres: { condition: 'service_healthy' } },
        });
        expect(server).not.to.have.any.keys('volumes', 'privileged', 'user', 'ports');
      }
      expect(compose.services.postgres).to.have.property('healthcheck');
    });

    it('name only secrets, volumes and services that there are', () => {
      const declared = Object.keys(compose.secrets);
      for (const [, { secrets = [], environment = {} }] of services) {
        expect(declared).to.include.members(secrets);
        const files = Object.values<string>(environment).filter((value) => value.startsWith('/run/secrets/'));
        expect(files.map((file) => file.split('/').at(-1))).to.have.members(secrets);
      }
      for (const { file } of Object.values<{ file: string }>(compose.secrets))
        expect(file).to.match(/^\.\/secrets\//);
      expect(compose.services.postgres.volumes).to.deep.equal(['postgres:/var/lib/postgresql/data']);
      expect(Object.keys(compose.volumes)).to.deep.equal(['postgres']);
      const { build } = compose['x-hawser'];
      expect(join(PROJECT, 'scripts/compose', build.context, build.dockerfile)).to.equal(
        join(PROJECT, 'scripts/container/Containerfile'),
      );
    });

    it('have a HAProxy that knows all servers and listens where its port leads', () => {
      const upstreams = [...haproxy.matchAll(/^ *server [\w-]+ ([\w-]+:\d+)/gm)].map(
        ([, upstream]) => upstream,
      );
      const addresses = servers.map(([name]) => `${name}:${EXPOSED}`);
      expect(upstreams, 'once for those that are ready, and once for all').to.deep.equal([
        ...addresses,
        ...addresses,
      ]);
      const [, listened] = /bind :(\d+)$/m.exec(haproxy) ?? [];
      const [, authority] = /ca-file (\S+)/.exec(haproxy) ?? [];
      expect(compose.services.haproxy).to.deep.include({
        ports: [`8443:${listened}`],
        volumes: ['./haproxy.cfg:/etc/haproxy/haproxy.cfg:ro'],
        configs: [{ source: 'authority', target: authority }],
        depends_on: servers.map(([name]) => name),
      });
      expect(read(COMPOSE)).to.include(`> ${compose.configs.authority.file.replace('./', '')}\n`);
    });

    it('have a HAProxy that takes out a hung server within 10 s', () => {
      const milliseconds = (name: string): number => {
        const [, number, unit] = new RegExp(`\\b${name} (\\d+)(ms|s)\\b`).exec(haproxy) ?? [];
        return Number(number) * (unit === 's' ? 1000 : 1);
      };
      const checks = Number(/\bfall (\d+)/.exec(haproxy)?.[1]);
      const patience = Math.max(milliseconds('timeout connect'), milliseconds('timeout check'));
      // It was asked just before it began to hang.
      const longest = milliseconds('inter') + checks * patience + (checks - 1) * milliseconds('fastinter');
      expect(longest).to.be.within(1, 9_000);
    });

    it('start again a server that has ended itself', () => {
      for (const [name, { restart, healthcheck }] of servers) {
        expect(restart, name).to.equal('unless-stopped');
        expect(healthcheck.test, name).to.deep.equal(['CMD', 'hawser', 'health']);
      }
    });

    describeWith(['haproxy'], 'read by HAProxy', () => {
      it('have nothing that it does not know', () => {
        const file = folder('haproxy.cfg');
        const authority = folder('ca.crt');
        writeFileSync(authority, rootCertificates[0] ?? '');
        writeFileSync(file, haproxy.replace(/ca-file \S+/, `ca-file ${authority}`));
        const { status, stderr } = spawnSync('haproxy', ['-c', '-f', file], {
          encoding: 'utf8',
          env: { PATH: PROXY_PATH },
        });
        expect(status, stderr).to.equal(0);
      });
    });

    describeWith(['docker-compose'], 'read by Compose', () => {
      it('have nothing that it does not know', () => {
        const words = ['--file', join(PROJECT, COMPOSE), 'config', '--quiet'];
        const { status, stderr } = spawnSync('docker-compose', words, { encoding: 'utf8', cwd: folder() });
        expect(status, stderr).to.equal(0);
      });
    });
  });

  describe('for Kubernetes', () => {
    const documents: Yaml[] = parseAllDocuments(read(KUBERNETES), { merge: true }).map((each) => each.toJS());
    const of = (kind: string): Yaml => documents.find((document) => document.kind === kind);
    const pod = of('Deployment').spec.template;
    const [container] = pod.spec.containers;
    const labels = pod.metadata.labels;

    it('are of versions that Kubernetes serves', () => {
      const told = documents.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
      expect(told).to.deep.equal(['apps/v1 Deployment', 'v1 Service', 'policy/v1 PodDisruptionBudget']);
    });

    it('find the servers by one label', () => {
      expect(of('Deployment').spec.selector.matchLabels).to.deep.equal(labels);
      expect(of('Service').spec.selector).to.deep.equal(labels);
      expect(of('PodDisruptionBudget').spec.selector.matchLabels).to.deep.equal(labels);
      const [{ labelSelector }] = pod.spec.topologySpreadConstraints;
      expect(labelSelector.matchLabels).to.deep.equal(labels);
    });

    it('give the servers settings that the program takes, on the port of the image', () => {
      const env = container.env.map(({ name, value }: Record<string, string>) => [name, value]);
      const { port } = settingsOf(Object.fromEntries(env));
      const [named] = container.ports;
      expect([port, named.containerPort]).to.deep.equal([EXPOSED, EXPOSED]);
      const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
        (name) => container[name].httpGet,
      );
      for (const { port: probed, scheme } of probes)
        expect([probed, scheme]).to.deep.equal([named.name, 'HTTPS']);
      expect(of('Service').spec.ports[0].targetPort).to.equal(named.name);
    });

    it('ask for health where the server tells it', () => {
      const { paths } = JSON.parse(read('docs/openapi.json'));
      expect(container.readinessProbe.httpGet.path).to.equal('/health/ready');
      for (const probe of ['startupProbe', 'livenessProbe'])
        expect(container[probe].httpGet.path).to.equal('/health');
      expect(paths).to.include.keys('/health', '/health/ready');
    });

    it('end a server that hangs, and lead nobody to it before', () => {
      const patience = ({ periodSeconds, timeoutSeconds, failureThreshold }: Yaml) =>
        periodSeconds + failureThreshold * Math.max(periodSeconds, timeoutSeconds);
      expect(patience(container.readinessProbe)).to.be.at.most(10);
      expect(patience(container.livenessProbe)).to.be.within(30, 70);
    });

    it('mount what the server writes to, and its secret as a file', () => {
      const mounts: { name: string; mountPath: string }[] = container.volumeMounts;
      const volumes: Yaml[] = pod.spec.volumes;
      expect(volumes.map(({ name }) => name)).to.have.members(mounts.map(({ name }) => name));
      const written = mounts.filter(({ name }) =>
        volumes.some((volume) => volume.name === name && volume.emptyDir),
      );
      expect(written.map(({ mountPath }) => mountPath)).to.have.members([...VOLUMES, '/tmp']);
      const secret = volumes.find((volume) => volume.secret);
      const { mountPath } = mounts.find(({ name }) => name === secret.name) ?? { mountPath: '' };
      const made = `secret generic ${secret.secret.secretName} --from-file=url=./database-url --from-file=secrets-key=`;
      expect(read(KUBERNETES)).to.include(made);
      for (const [setting, file] of [
        ['HAWSER_DATABASE_URL_FILE', 'url'],
        ['HAWSER_SECRETS_KEY_FILE', 'secrets-key'],
      ]) {
        const { value } = container.env.find(({ name }: { name: string }) => name === setting);
        expect(value).to.equal(`${mountPath}/${file}`);
      }
    });

    it('let the servers do little, and never all end at once', () => {
      expect(pod.spec).to.deep.include({ automountServiceAccountToken: false });
      const user = { runAsNonRoot: true, runAsUser: USER, fsGroup: USER };
      expect(pod.spec.securityContext).to.deep.include(user);
      expect(container.securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const { replicas, strategy } = of('Deployment').spec;
      expect(replicas).to.equal(3);
      expect(strategy.rollingUpdate.maxUnavailable).to.equal(0);
      expect(of('PodDisruptionBudget').spec.maxUnavailable).to.equal(1);
    });
  });
});
