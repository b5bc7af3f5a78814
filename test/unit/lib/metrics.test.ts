import { expect } from 'chai';
import { Registry } from 'prom-client';
import { RequestMetrics } from '../../../src/lib/metrics/request-metrics.ts';
import { type Families, parsePrometheus, sumOf } from '../../support/prometheus.ts';

const POLL = { method: 'GET', path: '/poll' };
const NAME = 'hawser_http_request_duration_seconds';

function makeProcess() {
  const registry = new Registry();
  const requests = new RequestMetrics(registry, POLL.path);
  const handle = (route: typeof POLL | undefined, status: number, milliseconds: number): void => {
    requests.begin();
    requests.end(route, status, milliseconds, undefined);
  };
  return { registry, requests, handle, read: async () => parsePrometheus(await registry.metrics()) };
}

const bucket = (families: Families, le: string) => sumOf(families, `${NAME}_bucket`, { route: '/poll', le });

describe('what is measured of requests', () => {
  it('counts each into all buckets from its own on, a bound included', async () => {
    const { handle, read } = makeProcess();
    for (const milliseconds of [0.1, 0.5, 0.6, 4, 60_000]) handle(POLL, 304, milliseconds);
    const families = await read();
    const found = ['0.0005', '0.001', '0.0025', '0.005', '30', '+Inf'].map((le) => bucket(families, le));
    expect(found).to.deep.equal([2, 3, 3, 4, 4, 5]);
    expect(sumOf(families, `${NAME}_count`)).to.equal(5);
    expect(sumOf(families, `${NAME}_sum`)).to.be.closeTo(60.0052, 1e-9);
  });

  it('tells classes of statuses apart, and takes what nobody answered for none', async () => {
    const { handle, read } = makeProcess();
    for (const status of [200, 204, 304, 404, 503, 999]) handle(POLL, status, 1);
    const families = await read();
    const found = ['2xx', '3xx', '4xx', '5xx', 'none'].map((status) =>
      sumOf(families, `${NAME}_count`, { status }),
    );
    expect(found).to.deep.equal([2, 1, 1, 1, 1]);
    expect(sumOf(families, 'hawser_polls_total', { result: 'other' })).to.equal(1);
  });
});
