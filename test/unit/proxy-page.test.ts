/** The configurations of proxies that are not installed here: what matters in them is read out of docs/reverse-proxy.md. */

import { expect } from 'chai';
import { parse } from 'yaml';
import { readBlock } from '../support/proxy-page.ts';

describe('the page about reverse proxies', () => {
  it('has Apache ask for any certificate or none, and overwrite the header', () => {
    const site = readBlock('apache');
    expect(site).to.match(/^ *SSLVerifyClient optional_no_ca$/m);
    expect(site).to.match(/^ *RequestHeader set X-SSL-Client-Cert "%\{SSL_CLIENT_CERT\}s"$/m);
    expect(site).to.match(/^ *ProxyPreserveHost On$/m);
    expect(site)
      .to.match(/^SSLSessionCache none$/m)
      .and.to.match(/^ *SSLSessionTickets off$/m);
  });

  it('has Traefik ask for any certificate or none, and remove the header before it sets it', () => {
    const { http, tls } = parse(readBlock('yaml traefik'), { uniqueKeys: true });
    const { middlewares, tls: ofRouter, service } = http.routers.hawser;
    expect(tls.options[ofRouter.options]).to.deep.include({
      clientAuth: { clientAuthType: 'RequestClientCert' },
      disableSessionTickets: true,
    });
    const [first, second] = middlewares.map((name: string) => http.middlewares[name]);
    expect(first.headers.customRequestHeaders).to.deep.equal({ 'X-Forwarded-Tls-Client-Cert': '' });
    expect(second).to.deep.equal({ passTLSClientCert: { pem: true } });
    expect(http.services[service].loadBalancer.passHostHeader).to.equal(true);
  });

  it('has Envoy ask for any certificate or none, and write a header with nothing else in it', () => {
    const [listener] = parse(readBlock('yaml envoy'), { uniqueKeys: true }).static_resources.listeners;
    const [{ transport_socket, filters }] = listener.filter_chains;
    const { typed_config: context } = transport_socket;
    expect(context).to.include({
      require_client_certificate: false,
      disable_stateless_session_resumption: true,
      disable_stateful_session_resumption: true,
    });
    // Any other member, such as trusted_ca, would make Envoy judge.
    expect(context.common_tls_context.validation_context).to.deep.equal({
      trust_chain_verification: 'ACCEPT_UNTRUSTED',
    });
    expect(filters[0].typed_config).to.deep.include({
      forward_client_cert_details: 'SANITIZE_SET',
      set_current_client_cert_details: { cert: true },
      use_remote_address: true,
    });
  });

  it('has IIS accept a certificate or none, and send away who brings the header', () => {
    const commands = readBlock('bat');
    expect(commands).to.include('/sslFlags:"Ssl, SslNegotiateCert"');
    expect(commands).to.include('clientcertnegotiation=enable').and.to.include('/preserveHostHeader:true');
    const [forged = '', passed = ''] = readBlock('xml').match(/<rule [\s\S]*?<\/rule>/g) ?? [];
    expect(forged).to.include('<add input="{HTTP_X_ARR_CLIENTCERT}" pattern=".+" />');
    expect(forged).to.match(/stopProcessing="true"[\s\S]*<action type="CustomResponse" statusCode="400"/);
    expect(passed).to.match(/<action type="Rewrite" url="https:\/\/[^"]*\{UNENCODED_URL\}"/);
  });
});
