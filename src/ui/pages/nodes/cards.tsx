/** Cards of one node: its certificate, its tags, and the rest of what is known. */

import { send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { can } from '../../session.ts';
import type { NodeDetails, NodeTag } from '../../types.ts';

/** In milliseconds. The fleet's tile counts certificates that end within this time. */
const SOON = 30 * 24 * 3_600_000;

export function CertificateCard({ certificate }: { certificate: NodeDetails['certificate'] }) {
  if (certificate !== null) return <KnownCertificate certificate={certificate} />;
  return (
    <section class="card" aria-labelledby="certificate">
      <h2 id="certificate">Certificate</h2>
      <p>This node is expected. The first machine that registers with this name and a good key becomes it.</p>
    </section>
  );
}

function KnownCertificate({ certificate }: { certificate: NonNullable<NodeDetails['certificate']> }) {
  const { thumbprint, awaiting, subject, notBefore, notAfter, pendingThumbprint } = certificate;
  const left = Date.parse(notAfter) - Date.now();
  return (
    <section class="card" aria-labelledby="certificate">
      <h2 id="certificate">Certificate</h2>
      <dl class="facts">
        <dt>Subject</dt>
        <dd>{subject}</dd>
        {notBefore !== null && (
          <>
            <dt>Valid from</dt>
            <dd>
              <Time at={notBefore} exact />
            </dd>
          </>
        )}
        <dt>Valid until</dt>
        <dd>
          <Time at={notAfter} exact /> {left <= 0 && <Mark word="Expired" tone="bad" />}
          {left > 0 && left <= SOON && <Mark word="Expiring" tone="warn" />}
        </dd>
        <dt>{awaiting === null ? 'SHA-256' : 'Awaiting, by SHA-1'}</dt>
        <dd>
          <code>{awaiting ?? thumbprint}</code>
        </dd>
        {pendingThumbprint !== null && (
          <>
            <dt>Comes next</dt>
            <dd>
              <code>{pendingThumbprint}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

export function TagsCard({ node }: { node: NodeDetails }) {
  return (
    <section class="card" aria-labelledby="tags">
      <h2 id="tags">Tags</h2>
      {node.tags.length === 0 ? (
        <p class="muted">
          None. A tag gives the node the parameters of a <a href="/ui/scopes">scope value</a>.
        </p>
      ) : (
        <ul class="tags">
          {node.tags.map((tag) => (
            <li key={tag.scopeValueId}>
              <span>
                <span class="muted">{tag.scopeTypeName}:</span> {tag.scopeValue}
              </span>
              {can('nodes.write') && <Untag node={node} tag={tag} />}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Untag({ node, tag }: { node: NodeDetails; tag: NodeTag }) {
  const name = `${tag.scopeTypeName}: ${tag.scopeValue}`;
  const run = async () => {
    await send('DELETE', `/nodes${apiPath(node.id)}/tags${apiPath(tag.scopeValueId)}`);
    return `${node.fqdn} does not have the tag ${name} any more.`;
  };
  return <DeedButton deed="Untag" about={name} run={run} class="small quiet" />;
}

export function FactsCard({ node }: { node: NodeDetails }) {
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">Node</h2>
      <dl class="facts">
        <dt>Last check-in</dt>
        <dd>
          <Time at={node.lastCheckIn} exact />
        </dd>
        <dt>Registered</dt>
        <dd>
          <Time at={node.createdAt} exact />
        </dd>
        <dt>Takes it from</dt>
        <dd>{node.configurationSource ?? <span class="muted">not reported</span>}</dd>
        <dt>Parameters</dt>
        <dd>
          {node.parameterProblems === 0 ? (
            'no problems'
          ) : (
            <a href={links.node(node.id, 'parameters')}>
              {node.parameterProblems} {node.parameterProblems === 1 ? 'problem' : 'problems'}
            </a>
          )}
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{node.id}</code>
        </dd>
      </dl>
    </section>
  );
}
